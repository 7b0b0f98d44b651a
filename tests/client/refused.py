"""Refusals for want of room in the shapes that providers were seen to send (spec/formats.md section 7 and the
sources in metrics/client/limit_rows.py), with values of our own."""

NOW = 1_796_000_000.0  # 2026-11-30T00:53:20Z
OPENAI, ANTHROPIC, GROQ = "api.openai.com", "api.anthropic.com", "api.groq.com"
CEREBRAS, MISTRAL, GEMINI = "api.cerebras.ai", "api.mistral.ai", "generativelanguage.googleapis.com"
OPENROUTER, GITHUB, COHERE = "openrouter.ai", "models.github.ai", "api.cohere.com"
TOGETHER, NVIDIA, DEEPINFRA = "api.together.xyz", "integrate.api.nvidia.com", "api.deepinfra.com"
SAMBANOVA, HF, XAI, ZAI = "api.sambanova.ai", "router.huggingface.co", "api.x.ai", "api.z.ai"
TO_MINUTE, TO_PACIFIC, TO_MONTH = 40.0, 25_600.0, 83_200.0
MINUTE, DAY = 60.0, 86_400.0


def openai(message, kind="tokens", code="rate_limit_exceeded"):
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic(message, kind="rate_limit_error"):
    return {"type": "error", "error": {"type": kind, "message": message}}


def gemini(quota, value="10", delay=None, message="You exceeded your current quota."):
    details = [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [
        {"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
         "quotaId": quota, "quotaDimensions": {"model": "gemini-2.5-pro", "location": "global"},
         "quotaValue": value}]}]  # fmt: skip
    if delay:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
    return {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": message, "details": details}}


def openrouter(message, **headers):
    named = {f"X-RateLimit-{name}": value for name, value in headers.items()}
    return {"error": {"code": 429, "message": message, "metadata": {"headers": named}}}


def ms(seconds):
    return str(int((NOW + seconds) * 1000))


TPM = "Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 29500, Requested 900."
CLAUDE = "This request would exceed your organization's rate limit of 40,000 input tokens per minute."
GROQ_RPM = "Rate limit reached for model `m` on requests per minute (RPM): Limit 30, Used 30, Requested 1."
GROQ_TPD = (
    "Rate limit reached for model `m` on tokens per day (TPD): Limit 100000, Used 99990, Requested 120."
)
GROQ_413 = (
    "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 9120, please reduce."
)
XAI_RPM = "Requests per Second (actual/limit): 1/8, Requests per Minute (actual/limit): 481/480"

# name, host, status, headers, body, cause, window that is used up (None: none is named), wait in seconds
REFUSED = [
    # --- OpenAI
    ("openai tokens", OPENAI, 429, {"retry-after": "2", "retry-after-ms": "1620"},
     openai(f"{TPM} Please try again in 1.62s."),
     "window", "tokens/minute", 1.62),
    ("openai tokens, words alone", OPENAI, 429, {}, openai(f"{TPM} Please try again in 20s."), "window",
     "tokens/minute", 20.0),
    ("openai the used up bucket", OPENAI, 429,
     {"x-ratelimit-remaining-requests": "99", "x-ratelimit-reset-requests": "8m0s",
      "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "12s"},
       openai("Rate limit reached for tokens"),
     "window", "tokens/minute", 12.0),
    ("openai requests of a day by their pace", OPENAI, 429,
     {"x-ratelimit-limit-requests": "200", "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "23h59m0s"},
     openai("Rate limit reached", "requests"), "window", "requests/day", 86_340.0),
    ("openai no quota", OPENAI, 429, {}, openai("You exceeded your current quota.", "insufficient_quota",
     "insufficient_quota"),
     "exhausted", None, None),
    ("openai hard limit", OPENAI, 400, {}, openai("Billing hard limit has been reached",
     "invalid_request_error", "billing_hard_limit_reached"),
     "exhausted", None, None),
    ("openai too large for the window", OPENAI, 429, {},
     openai("Request too large for m on tokens per min (TPM): Limit 30000, Requested 31000."),
     "too_large", "tokens/minute", None),
    ("openai overloaded", OPENAI, 503, {},
     openai("The engine is currently overloaded, please try again later", "server_error", None),
     "overload", None, None),
    ("openai slow down", OPENAI, 503, {"retry-after": "30"}, openai("Slow Down", "server_error",
     "engine_overloaded"), "overload", None, 30.0),
    # --- Anthropic
    ("anthropic a reset as an instant", ANTHROPIC, 429,
     {"anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-requests-remaining": "0",
      "anthropic-ratelimit-requests-reset": "2026-11-30T00:53:45Z"}, anthropic("Too many requests"),
       "window", "requests/minute", 25.0),
    ("anthropic retry-after wins", ANTHROPIC, 429,
     {"retry-after": "9", "anthropic-ratelimit-input-tokens-limit": "40000",
      "anthropic-ratelimit-input-tokens-remaining": "0",
      "anthropic-ratelimit-input-tokens-reset": "2026-11-30T00:54:00Z"}, anthropic(CLAUDE), "window",
       "input_tokens/minute", 9.0),
    ("anthropic words alone", ANTHROPIC, 429, {}, anthropic(CLAUDE), "window", "input_tokens/minute",
     MINUTE),
    ("anthropic several buckets, one used up", ANTHROPIC, 429,
     {"anthropic-ratelimit-requests-remaining": "12",
      "anthropic-ratelimit-requests-reset": "2026-11-30T01:53:20Z",
      "anthropic-ratelimit-output-tokens-remaining": "0",
       "anthropic-ratelimit-output-tokens-reset": "2026-11-30T00:53:31Z"},
     anthropic("Output tokens exceeded"), "window", "output_tokens/minute", 11.0),
    ("anthropic plan used up", ANTHROPIC, 429,
     {"anthropic-ratelimit-unified-status": "rejected",
      "anthropic-ratelimit-unified-reset": str(int(NOW + 7200))},
     anthropic("Usage limit reached"), "window", "requests/unknown", 7200.0),
    ("anthropic at once", ANTHROPIC, 429, {},
     anthropic("Number of concurrent connections has exceeded your rate limit."), "concurrency", None, 1.0),
    ("anthropic overloaded", ANTHROPIC, 529, {}, anthropic("Overloaded", "overloaded_error"), "overload",
     None, None),
    ("anthropic no credit", ANTHROPIC, 400, {},
     anthropic("Your credit balance is too low to access the API.", "invalid_request_error"),
     "exhausted", None, None),
    # --- Groq
    ("groq the window that only words name", GROQ, 429,
     {"retry-after": "2", "x-ratelimit-limit-requests": "14400", "x-ratelimit-remaining-requests": "14369",
      "x-ratelimit-reset-requests": "3m6s", "x-ratelimit-remaining-tokens": "5500"},
     openai(f"{GROQ_RPM} Please try again in 2s.", "requests"), "window", "requests/minute", 2.0),
    ("groq requests reset is no wait", GROQ, 429,
     {"x-ratelimit-limit-requests": "14400", "x-ratelimit-remaining-requests": "14369",
      "x-ratelimit-reset-requests": "3m6s"},
     openai("Rate limit reached"), "window", None, None),
    ("groq tokens of a day", GROQ, 429, {"retry-after": "311"}, openai(GROQ_TPD), "window", "tokens/day",
     311.0),
    ("groq prompt above the window", GROQ, 413, {}, openai(GROQ_413), "too_large", "tokens/minute", None),
    ("groq capacity", GROQ, 503, {},
     openai("m is currently over capacity. Please try again and back off exponentially.",
      "internal_server_error", None),
     "overload", None, None),
    # --- Cerebras
    ("cerebras requests", CEREBRAS, 429, {},
     {"message": "Requests per minute limit exceeded - too many requests sent.",
     "type": "too_many_requests_error", "param": "quota", "code": "request_quota_exceeded",
      "retry_after": 58}, "window", "requests/minute", 58.0),
    ("cerebras tokens", CEREBRAS, 429, {},
     {"message": "Tokens per day limit exceeded - too many tokens processed.",
     "type": "too_many_tokens_error", "param": "quota", "code": "token_quota_exceeded"}, "window",
      "tokens/day", DAY),
    ("cerebras queue", CEREBRAS, 429, {"x-should-retry": "false"},
     {"message": "We're experiencing high traffic right now!",
     "type": "too_many_requests_error", "param": "queue", "code": "queue_exceeded"}, "concurrency", None,
      1.0),
    # --- Mistral
    ("mistral minute on the clock", MISTRAL, 429, {"x-ratelimit-limit-req-minute": "23",
     "x-ratelimit-remaining-req-minute": "0"},
     {"object": "error", "message": "Rate limit exceeded", "type": "rate_limited", "param": None,
      "code": "1300"},
     "window", "requests/minute", TO_MINUTE),
    ("mistral no allowance", MISTRAL, 429, {"x-ratelimit-limit-req-minute": "0",
     "x-ratelimit-remaining-req-minute": "0"},
     {"message": "Rate limit exceeded", "type": "rate_limited", "code": "1300"}, "exhausted",
      "requests/minute", None),
    ("mistral tokens of a month", MISTRAL, 429, {"x-ratelimit-limit-tokens-month": "1000000",
     "x-ratelimit-remaining-tokens-month": "0"},
     {"message": "Rate limit exceeded", "type": "rate_limited", "code": "1300"}, "window", "tokens/month",
      TO_MONTH),
    ("mistral capacity", MISTRAL, 429, {}, {"object": "error",
     "message": "Service tier capacity exceeded for this model.",
     "type": "service_tier_capacity_exceeded", "code": "3505"}, "window", None, None),
    # --- Gemini
    ("gemini minute", GEMINI, 429, {}, gemini("GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
     delay="45.837906927s"),
     "window", "requests/minute", 45.838),
    ("gemini minute in a list", GEMINI, 429, {},
     [gemini("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", delay="4s")],
     "window", "requests/minute", 4.0),
    ("gemini day, whatever it asks for", GEMINI, 429, {},
     gemini("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "250", "20s"),
     "window", "requests/day", TO_PACIFIC),
    ("gemini day at an unknown host", "proxy.example", 429, {},
     gemini("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "250", "20s"),
     "window", "requests/day", TO_PACIFIC),
    ("gemini input tokens", GEMINI, 429, {}, gemini("GenerateContentInputTokensPerModelPerMinute-FreeTier",
     "125000", "31s"),
     "window", "input_tokens/minute", 31.0),
    ("gemini not on the free tier", GEMINI, 429, {},
     gemini("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "0", "20s",
     "Quota exceeded for metric: generate_content_free_tier_requests, limit: 0"), "exhausted",
      "requests/day", TO_PACIFIC),
    ("gemini words", GEMINI, 429, {}, {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED",
     "message": "Resource has been exhausted. Please retry in 29.72s."}}, "window", None, 29.72),
    ("gemini overloaded", GEMINI, 503, {}, {"error": {"code": 503, "status": "UNAVAILABLE",
     "message": "The model is overloaded."}},
     "overload", None, None),
    # --- OpenRouter
    ("openrouter minute, epoch ms in the body", OPENROUTER, 429, {},
     openrouter("Rate limit exceeded: free-models-per-min.", Limit="20", Remaining="0", Reset=ms(42)),
      "window", "requests/minute", 42.0),
    ("openrouter day", OPENROUTER, 429, {},
     openrouter("Rate limit exceeded: free-models-per-day. Add 10 credits", Limit="50", Remaining="0",
      Reset=ms(83_200)),
     "window", "requests/day", 83_200.0),
    ("openrouter in headers", OPENROUTER, 429,
     {"x-ratelimit-limit": "20", "x-ratelimit-remaining": "0", "x-ratelimit-reset": ms(17)},
      {"error": {"code": 429, "message": "no"}},
     "window", "requests/unknown", 17.0),
    ("openrouter the provider behind it", OPENROUTER, 429, {"retry-after": "6"}, {"error": {"code": 429,
     "message": "Provider returned error",
     "metadata": {"provider_name": "P", "raw": "m is temporarily rate-limited upstream"}}}, "window", None,
      6.0),
    ("openrouter no credits", OPENROUTER, 402, {}, {"error": {"code": 402,
     "message": "Insufficient credits. Add more."}}, "exhausted", None, None),
    ("openrouter in flight", OPENROUTER, 402, {}, {"error": {"code": "in_flight_budget_exhausted",
     "message": "Requests in progress hold your budget"}},
     "concurrency", None, 1.0),
    # --- GitHub Models
    ("github minute", GITHUB, 429, {"retry-after": "7", "x-ratelimit-type": "UserByMinute"}, openai(
     "Rate limit of 10 per 60s exceeded for UserByMinute. Please wait 7 seconds before retrying.", None,
      "RateLimitReached"),
     "window", "requests/minute", 7.0),
    ("github day", GITHUB, 429, {"x-ratelimit-type": "UserByModelByDay",
     "x-ratelimit-timeremaining": "51263"}, openai(
     "Rate limit of 8 per 86400s exceeded for UserByModelByDay.", None, "RateLimitReached"), "window",
      "requests/day", 51_263.0),
    ("github at once", GITHUB, 429, {"retry-after": "0", "x-ratelimit-type": "UserConcurrentRequests"},
     openai(
     "Rate limit of 5 per 0s exceeded for UserConcurrentRequests.", None, "RateLimitReached"),
      "concurrency", "concurrency/", 0.0),
    # --- Cohere
    ("cohere trial minute", COHERE, 429, {},
     {"message": "You are using a Trial key, which is limited to 20 API calls / minute."},
     "window", "requests/minute", MINUTE),
    ("cohere trial month", COHERE, 429, {"x-endpoint-monthly-call-limit": "1000"},
     {"message": "You are using a Trial key, which is limited to 1000 API calls / month."}, "window", None,
      None),
    # --- Together
    ("together per second", TOGETHER, 429, {"x-ratelimit-limit": "10", "x-ratelimit-remaining": "0",
     "x-ratelimit-reset": "1"},
     openai("You have reached the rate limit specific to this model", "model_rate_limit", None), "window",
      "requests/second", 1.0),
    ("together tokens", TOGETHER, 429, {"x-ratelimit-remaining": "3", "x-tokenlimit-limit": "5000",
     "x-tokenlimit-remaining": "0"},
     openai("Token limit", "model_rate_limit", None), "window", "tokens/second", 1.0),
    ("together overloaded", TOGETHER, 503, {}, openai("The server is overloaded or not ready yet",
     "service_unavailable", None), "overload", None, None),
    # --- the others
    ("nvidia says nothing", NVIDIA, 429, {}, {"status": 429, "title": "Too Many Requests"}, "window", None,
     None),
    ("deepinfra busy", DEEPINFRA, 429, {}, {"detail": {"error": "Model busy, retry later"}}, "overload",
     None, None),
    ("deepinfra at once", DEEPINFRA, 429, {},
     openai("Too many concurrent requests: limit of 200 concurrent requests reached", None, None),
     "concurrency", "concurrency/", 1.0),
    ("sambanova minute", SAMBANOVA, 429, {"x-ratelimit-limit-requests": "20",
     "x-ratelimit-remaining-requests": "0",
     "x-ratelimit-reset-requests": "31"}, openai("Rate limit exceeded", None, None), "window",
      "requests/minute", 31.0),
    ("sambanova day in hours", SAMBANOVA, 429, {"x-ratelimit-limit-requests-day": "400",
     "x-ratelimit-remaining-requests-day": "0",
     "x-ratelimit-reset-requests-day": "4h17m"}, openai("Rate limit exceeded", None, None), "window",
      "requests/day", 15_420.0),
    ("sambanova epoch", SAMBANOVA, 429, {"x-ratelimit-remaining-requests": "0",
     "x-ratelimit-reset-requests": str(int(NOW + 12))},
     openai("Rate limit exceeded", None, None), "window", "requests/minute", 12.0),
    ("hugging face monthly credits", HF, 402,
     {"x-error-message": "You have depleted your monthly included credits."}, b"",
     "exhausted", None, TO_MONTH),
    ("xai names several", XAI, 429, {}, {"code": "rate_limited", "error": XAI_RPM}, "window",
     "requests/minute", MINUTE),
    ("xai reset in epoch seconds", XAI, 429, {"x-ratelimit-limit-tokens": "60000",
     "x-ratelimit-remaining-tokens": "0",
     "x-ratelimit-reset-tokens": str(int(NOW + 33))}, openai("slow", None, None), "window", "tokens/minute",
      33.0),
    ("z.ai at once", ZAI, 429, {}, {"error": {"code": "1302",
     "message": "Rate limit reached for requests"}}, "concurrency", None, 1.0),
    ("llm7 a second", "api.llm7.io", 429, {"retry-after": "1"}, {"error": "slow down", "retry_after": 1},
     "concurrency", None, 1.0),
    ("deepseek at once", "api.deepseek.com", 429, {}, openai("Too many concurrent requests", None, None),
     "concurrency", None, 1.0),
    ("deepseek balance", "api.deepseek.com", 402, {}, openai("Insufficient Balance", None,
     "invalid_request_error"), "exhausted", None, None),
    ("ietf draft", "proxy.example", 429, {"ratelimit": '"default";r=0;t=33',
     "ratelimit-policy": '"default";q=100;w=60'}, b"",
     "window", "requests/minute", 33.0),
    ("ietf, older", "proxy.example", 429, {"ratelimit": "limit=100, remaining=0, reset=12"}, b"", "window",
     "requests/unknown", 12.0),
    ("a front like mistral's", "gateway.example", 429, {"x-ratelimit-limit-minute": "30",
     "x-ratelimit-remaining-minute": "0"},
     {"message": "API rate limit exceeded"}, "window", "requests/minute", MINUTE),
    ("a date", "proxy.example", 429, {"retry-after": "Mon, 30 Nov 2026 00:54:20 GMT"}, openai("slow down",
     None, None), "window", None, 60.0),
    ("quota words that mean at once", "proxy.example", 429, {}, {"status": 429,
     "error": "INSUFFICIENT QUOTA",
     "message": "You exceeded your current limit of concurrent requests."}, "concurrency", None, 1.0),
    # --- nothing to do with room
    ("a bad request", OPENAI, 400, {}, openai("no such field", "invalid_request_error", None), None, None,
     None),
    ("a bad key", OPENAI, 401, {}, openai("Incorrect API key", "invalid_request_error", "invalid_api_key"),
     None, None, None),
    ("a body that is too large", OPENAI, 413, {}, openai("body too large", "invalid_request_error", None),
     None, None, None),
]  # fmt: skip
