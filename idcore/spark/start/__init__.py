"""How Java and the workers of Spark start."""
