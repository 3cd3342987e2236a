"""What the tables of a scan show to a person who looks for a fault: order, marks, keys, sentences. Draws nothing."""
