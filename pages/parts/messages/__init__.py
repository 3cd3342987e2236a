"""Parts of the pages about messages: look-ups in a cluster, records of a store. No other part uses them."""
