"""Bytes of inputs: files, archives, packed streams, stores and web servers, as windows of text. Knows no ids."""
