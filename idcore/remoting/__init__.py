"""The remoting protocol, read-only: frames, questions, a client, clusters, their guard. Knows no page and no store."""
