"""The shared core of the RocketMQ id console: knows RocketMQ, and refuses to know Streamlit and Plotly."""

__version__ = "0.1.0"
