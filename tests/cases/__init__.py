"""Black-box cases from public bug reports of other gateways: what a caller sends, what a provider answers,
and what must come of it. `python3 -m tests.cases` plays them against one real server.

A case is a file in files/. Its keys:

    id, title, area, severity, source, why     what it is about, and the reports it comes from
    format        the caller's API: openai-chat anthropic responses ollama gemini raw-http
    request       {method, path, headers, body}: JSON, or text sent as it is; a null header is left out.
                  Or {raw: [...]}: what is written to one socket, see wire.py
    upstream      what the member m1 answers, or `members`: see member.py
    base, place   the endpoint's base URL as a user typed it; files to put into the data folder
    collection    settings of the collection, such as {drop_hosted_tools: true}
    expect        all of it must hold: see judge.py. `variants` and `also` make several runs of one case, see
                  case.py
    require_keys  the case has a server of its own, which asks for gateway keys on this computer too
    later         why the case, or a variant, cannot pass yet: such runs are played only with --later

Placeholders in any string: $ROUTE the model to ask, $PORT ours, $UP the provider's, $SINK that of a server
which must see nothing, $UPSTREAM_KEY, $HOME the data folder.
"""
