"""What programs may ask of the console: one table of operations, which each door for programs is made of."""
