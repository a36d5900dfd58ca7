"""A certificate authority of one test: TLS for whatever host a client names.

With it the clouds answer at `https://`, as the vendors' endpoints do. The private keys live
in a temporary folder and end with it. Clients trust the authority by the usual variables.
"""

from __future__ import annotations

import ipaddress
import ssl
import tempfile
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "stager test authority")])
DAYS = 2


class Authority:
    """Issues certificates as hosts are asked for."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="stager-authority-")
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._lock = threading.Lock()
        self.bundle = Path(self._folder.name) / "authority.pem"
        self.bundle.write_bytes(_pem(self._certificate()))

    def close(self) -> None:
        """Forget the keys."""
        self._folder.cleanup()

    def environment(self) -> dict[str, str]:
        """The variables by which requests, botocore, OpenSSL and rustls find whom to trust."""
        names = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE")
        return dict.fromkeys(names, str(self.bundle))

    def context(self, host: str) -> ssl.SSLContext:
        """What a server needs to be this host."""
        with self._lock:
            if host not in self._contexts:
                self._contexts[host] = self._issue(host)
            return self._contexts[host]

    def _certificate(self) -> x509.Certificate:
        usage = dict.fromkeys(
            [
                *("digital_signature", "content_commitment", "key_encipherment"),
                *("data_encipherment", "key_agreement", "encipher_only", "decipher_only"),
            ],
            False,
        )
        return (
            _described(NAME, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(x509.KeyUsage(**usage, key_cert_sign=True, crl_sign=True), critical=True)
            .sign(self._key, hashes.SHA256())
        )

    def _issue(self, host: str) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "stager test host")])
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        certificate = (
            _described(subject, key.public_key())
            .add_extension(x509.SubjectAlternativeName([_name(host)]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(usage, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        file = Path(self._folder.name) / f"host-{len(self._contexts)}.pem"
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        file.write_bytes(private + _pem(certificate))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context


def _described(subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(NAME)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=DAYS))
    )


def _name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
