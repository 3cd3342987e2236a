"""Parts of the pages about ids: decode, anatomy, lab. They may use parts of triage; no other part uses them."""
