"""Bytes and words that everything else uses: layouts, errors, safe texts, the catalogues."""
