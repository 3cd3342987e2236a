"""Bytes of inputs: files, archives, packed streams, stores and web servers, as windows of text. Looks for no ids."""
