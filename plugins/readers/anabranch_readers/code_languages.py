"""Which extensions are source code or configuration, and in which language."""

from __future__ import annotations

_LANGUAGES = {
    "bash": "sh bash zsh", "batch": "bat cmd", "c": "c h", "c#": "cs", "c++": "cc cpp cxx hh hpp hxx",
    "clojure": "clj cljs", "css": "css scss less", "dart": "dart", "elixir": "ex exs", "erlang": "erl", "f#": "fs",
    "fortran": "f90 f95", "go": "go", "graphql": "graphql", "groovy": "groovy gradle", "haskell": "hs",
    "ini": "ini cfg conf properties", "java": "java", "javascript": "js mjs cjs jsx", "json": "json jsonc json5",
    "julia": "jl", "kotlin": "kt kts", "latex": "bib", "lua": "lua", "ocaml": "ml mli", "perl": "pl pm",
    "php": "php", "powershell": "ps1 psm1", "protobuf": "proto", "python": "py pyi", "r": "r", "ruby": "rb",
    "rust": "rs", "scala": "scala", "sql": "sql", "svelte": "svelte", "swift": "swift", "terraform": "tf",
    "toml": "toml", "typescript": "ts tsx mts cts", "visual basic": "vb", "vue": "vue", "xml": "xml xsd xsl xslt",
    "yaml": "yaml yml", "zig": "zig",
}  # fmt: skip
# Language by extension, lower case.
LANGUAGES: dict[str, str] = {
    f".{extension}": language for language, extensions in _LANGUAGES.items() for extension in extensions.split()
}
# Languages of files that have a name instead of an extension, lower case.
LANGUAGES_BY_NAME: dict[str, str] = {
    "dockerfile": "dockerfile", "containerfile": "dockerfile", "makefile": "make", "gnumakefile": "make",
    "jenkinsfile": "groovy", "rakefile": "ruby", "gemfile": "ruby", "vagrantfile": "ruby", "justfile": "make",
    "procfile": "yaml", "brewfile": "ruby",
}  # fmt: skip
