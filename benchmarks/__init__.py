"""What the figures in the docs come from: each file measures one thing and prints a table. Tests import none of it."""
