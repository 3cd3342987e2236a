"""What a visitor gives: pasted text, uploads, places of the server."""
