"""What a store says is shown without what could be used."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.storage.credentials import redaction
from stager.storage.credentials.redaction import redacted, remember

SECRET = "Pl4nted/Secret+0123456789=="

QUOTED = [
    "<StringToSign>AWS4-HMAC-SHA256\n20261201T000000Z\n{}</StringToSign>",
    "<SignatureProvided>{}</SignatureProvided>",
    "<AWSAccessKeyId>{}</AWSAccessKeyId>",
    "<OSSAccessKeyId>{}</OSSAccessKeyId>",
    "<CanonicalRequest>GET\n/\n{}\n</CanonicalRequest>",
    "<Token-0>{}</Token-0>",
    '<SecurityToken type="x">{}</SecurityToken>',
    "<FormatString>get\n/k\n\n{}</FormatString>",
    "<Token>{}",
    "Authorization: AWS4-HMAC-SHA256 Credential={}/20261201/r/s3/aws4_request, Signature=1",
    "'authorization': 'OSS4-HMAC-SHA256 Credential=x, Signature={}'",
    "authorization=OSS LTAI:{}",
    "Authorization: q-sign-algorithm=sha1&q-ak=x&q-signature={}",
    "the header was q-sign-algorithm=sha1&q-ak={}&q-signature=1",
    "signed by OSS LTAI:{} and refused",
    "https://b/k?X-Amz-Signature={}&partNumber=2",
    "https://b/k?X-Amz-Credential={}&X-Amz-Date=1",
    "https://b/k?x-amz-security-token={}",
    "https://b/k?OSSAccessKeyId={}&Expires=1",
    "https://b/k?Signature={}&Expires=1",
    "https://b/k?x-oss-signature={}",
    "https://b/k?q-ak={}",
    "https://a.blob/c?sv=1&sig={}",
    "x-amz-security-token: {}",
    "X-Cos-Security-Token: {}",
    '{{"SecretAccessKey": "{}"}}',
    '{{"AccessKeySecret":"{}"}}',
    "{{'sts_token': '{}'}}",
    "aws_secret_access_key = {}",
    "secret_key={}",
    "s3://key:{}@bucket/prefix",
    "Bearer {}",
]


@pytest.mark.parametrize("form", QUOTED)
def test_a_secret_is_hidden_under_every_name(form: str) -> None:
    text = form.format(SECRET.replace("/", "_") if "://key" in form else SECRET)
    shown = redacted(f"403 Forbidden: {text}")
    assert "Pl4nted" not in shown
    assert "0123456789" not in shown
    assert shown.startswith("403 Forbidden: ")
    assert redaction.HIDDEN in shown


@pytest.mark.parametrize(
    "text",
    [
        "<Code>SignatureDoesNotMatch</Code><Message>The request signature we calculated</Message>",
        "s3://bucket/team/datasets/x: access denied: AccessDenied",
        "ExpiredToken: The provided token has expired",
        "https://b/k?partNumber=2&uploadId=abc&list-type=2",
        "http://127.0.0.1:8333/bucket/key status code: 403 Forbidden",
        "2026-12-01T10:00:00Z signing key",
    ],
)
def test_what_helps_the_user_stays(text: str) -> None:
    assert redacted(text) == text


def test_a_value_that_signs_is_hidden_wherever_it_stands() -> None:
    remember("unheard/Of+value==0123")
    shown = redacted("it said unheard/Of+value==0123 and unheard%2FOf%2Bvalue%3D%3D0123")
    assert shown == "it said *** and ***"


def test_short_values_are_not_searched_for_and_old_ones_are_forgotten() -> None:
    remember("the")
    assert redacted("the text") == "the text"
    remember("first-value-remembered")
    for number in range(redaction.MOST_KNOWN + 1):
        remember(f"value-number-{number:06d}")
    assert len(redaction._known) <= redaction.MOST_KNOWN
    assert "first" in redacted("first-value-remembered")


@given(st.text(max_size=300))
def test_any_text_is_taken_and_taken_again_without_change(text: str) -> None:
    once = redacted(text)
    assert redacted(once) == once


@pytest.mark.parametrize(
    "evil",
    ["a.", "secret", "<Token>", "-", "authorization:", "x://", "eyJaaaaaaaa.", "token", "token: "],
)
def test_a_hostile_answer_costs_no_more_than_a_long_one(evil: str) -> None:
    began = time.process_time()
    redacted(evil * 100_000)
    assert time.process_time() - began < 1
