"""Remove what a framework wrapped around a program: calls, barriers, tracing artifacts, the order of tracing."""
