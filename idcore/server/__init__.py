"""Who comes in, and what runs behind the pages."""
