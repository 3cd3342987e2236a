"""RocketMQ's own formats and protocol: messages, store files, remoting."""
