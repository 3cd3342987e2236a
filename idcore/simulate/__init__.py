"""Clients, brokers and logs that are simulated, to try the rest on: every one from a seed. Sends nothing."""
