"""A store that misbehaves on order: an HTTP proxy before a real server.

exchange    one request and its answer, as values
kinds       the faults: each changes a request's way, its answer, or how that is delivered
rules       which request gets which fault
proxy       the server that carries requests and does what the rules say
"""
