"""The remoting protocol, read-only: frames, questions, a client, clusters, their guard. Depends on no page or store."""
