"""What the tables of a run say to whoever looks for a fault: order, marks, keys. Knows no word and no picture."""
