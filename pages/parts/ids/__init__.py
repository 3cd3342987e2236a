"""Parts of the pages about ids: decode, anatomy, lab. They may show what triage knows; no other part knows them."""
