"""Servers that behave as Aliyun OSS and Tencent COS document, on loopback, for tests.

`oss_server` and `cos_server` are what a test starts. Below them: `objects` keeps the bytes,
`http_server` speaks HTTP, `authority` lets it speak TLS, `keyring` knows the keys and the
time, `sigv4`, `oss_v4`, `oss_v1` and `cos_sign` check signatures, the `*_operations` answer.
tests/contract/clouds/ holds the vendors' own SDKs against them.
"""
