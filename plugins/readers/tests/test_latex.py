from __future__ import annotations

from pathlib import Path

from tests.readers.read_bytes import documents, reason

PAPER = r"""\documentclass{article}
\title{On \emph{Pumps}}
\author{Ada}
\begin{document}
\maketitle
% a comment
\section{Intro}\label{sec:i}
We \emph{measured} 42~widgets \cite{knuth} in Section~\ref{sec:i}.
A line goes on.

\begin{tabular}{lr}
\hline
Name & Score \\
Alpha & 91.5 \\
\end{tabular}

\subsection*{Code}
\begin{lstlisting}[language=C]
int x = 1; % not a comment
  y();
\end{lstlisting}
\begin{itemize}
\item one
\item two
\end{itemize}
\end{document}
"""


def test_prose_and_not_code(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, "a.tex", PAPER)
    assert (document.title, document.metadata) == ("On Pumps", {"format": "latex", "author": "Ada"})
    assert [(block.text, block.heading) for block in document.blocks if not block.is_heading] == [
        ("We measured 42 widgets [knuth] in Section sec:i. A line goes on.", ("Intro",)),
        ("| Name | Score |\n| Alpha | 91.5 |", ("Intro",)),
        ("int x = 1; % not a comment\n  y();", ("Intro", "Code")),
        ("- one\n- two", ("Intro", "Code")),
    ]


def test_a_link_is_its_words(tmp_path: Path) -> None:
    text = r"\title{On \href{http://a.example/}{Pumps}} Ada \href{http://b.example/x_1}{wrote \emph{it}} in May."
    (document,) = documents(tmp_path, "a.tex", text)
    assert document.title == "On Pumps"
    assert document.blocks[-1].text.endswith("Ada wrote it in May.")


def test_no_file_is_opened_that_a_document_names(tmp_path: Path) -> None:
    (tmp_path / "secret.tex").write_text("SECRET")
    (document,) = documents(tmp_path, "a.tex", f"Words.\\input{{{tmp_path}/secret}}\\include{{secret}}")
    assert "SECRET" not in " ".join(block.text for block in document.blocks)


def test_braces_that_do_not_end_cost_little(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, "a.tex", "Before. \\emph{never closed")
    assert "Before." in document.blocks[0].text


def test_braces_that_nest_without_end_are_broken(tmp_path: Path) -> None:
    assert reason(tmp_path, "a.tex", "{" * 100_000) == "broken"
