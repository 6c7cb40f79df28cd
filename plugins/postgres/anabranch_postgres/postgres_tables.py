"""The tables of corpora in PostgreSQL, and what brings those of an earlier version up.

Every key begins with the corpus, so that what belongs to one organisation (`postgresql://.../name#{tenant}`) lies
together, and a search touches nothing of another.
"""

from __future__ import annotations

# `generation` is what readers see; what is written has the next one as its birth, and is found once that is published.
# `changes` counts writes, `published` is its value at the last publication.
_CORPORA = """
CREATE TABLE anabranch.corpora (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    generation int NOT NULL DEFAULT 0,
    changes bigint NOT NULL DEFAULT 0,
    published bigint NOT NULL DEFAULT 0,
    analyser text NOT NULL DEFAULT '',
    language text NOT NULL DEFAULT '',
    dimension int NOT NULL DEFAULT 0
);
CREATE TABLE anabranch.meta (
    corpus int NOT NULL REFERENCES anabranch.corpora ON DELETE CASCADE,
    name text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (corpus, name)
);
"""

# By the hash of their path: an index takes no entry of more than 2,700 bytes, and paths may be longer.
_FILES = """
CREATE TABLE anabranch.files (
    corpus int NOT NULL REFERENCES anabranch.corpora ON DELETE CASCADE,
    path_key text NOT NULL,
    path text NOT NULL,
    source text NOT NULL,
    sha256 text NOT NULL,
    access text[] NOT NULL,
    stamp text NOT NULL,
    PRIMARY KEY (corpus, path_key)
);
"""

# An audience is a set of access tags that some document has. There are few of them, so that a passage, a posting and a
# count of words each name theirs by a number, and a search looks at tags once and not once for each passage.
_DOCUMENTS = """
CREATE TABLE anabranch.audiences (
    corpus int NOT NULL REFERENCES anabranch.corpora ON DELETE CASCADE,
    id int GENERATED ALWAYS AS IDENTITY,
    tags text[] NOT NULL,
    PRIMARY KEY (corpus, id),
    UNIQUE (corpus, tags)
);
CREATE TABLE anabranch.documents (
    corpus int NOT NULL REFERENCES anabranch.corpora ON DELETE CASCADE,
    number bigint GENERATED ALWAYS AS IDENTITY,
    doc_id text NOT NULL,
    path_key text NOT NULL,
    path text NOT NULL,
    source text NOT NULL,
    key text NOT NULL,
    title text NOT NULL,
    digest text NOT NULL,
    metadata jsonb NOT NULL,
    audience int NOT NULL,
    tokens int NOT NULL,
    leaves int NOT NULL,
    pages jsonb NOT NULL,
    PRIMARY KEY (corpus, number),
    UNIQUE (corpus, doc_id)
);
CREATE INDEX documents_by_path ON anabranch.documents (corpus, path_key);
CREATE TABLE anabranch.chunks (
    corpus int NOT NULL,
    chunk_id text NOT NULL,
    document bigint NOT NULL,
    parent_id text,
    level smallint NOT NULL,
    position int NOT NULL,
    start int NOT NULL,
    "end" int NOT NULL,
    page int,
    page_end int,
    heading text NOT NULL,
    tokens int NOT NULL,
    text text,
    PRIMARY KEY (corpus, chunk_id),
    FOREIGN KEY (corpus, document) REFERENCES anabranch.documents ON DELETE CASCADE
);
CREATE INDEX chunks_by_document ON anabranch.chunks (corpus, document, level, start);
CREATE INDEX chunks_by_parent ON anabranch.chunks (corpus, parent_id, position);
"""

# What searches read of a leaf; `terms` and `length` are in `leaf_words` by now. A vector that no leaf has, or
# has any more, waits in `vectors`: text that moves or comes back is not embedded again.
_LEAVES = """
CREATE TABLE anabranch.leaves (
    corpus int NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    chunk_id text NOT NULL,
    document bigint NOT NULL,
    audience int NOT NULL,
    born int NOT NULL,
    length int,
    terms bigint[],
    vector_key text NOT NULL,
    vector vector NOT NULL,
    PRIMARY KEY (corpus, id),
    UNIQUE (corpus, chunk_id),
    FOREIGN KEY (corpus, document) REFERENCES anabranch.documents ON DELETE CASCADE
);
CREATE INDEX leaves_by_document ON anabranch.leaves (corpus, document);
CREATE INDEX leaves_by_vector ON anabranch.leaves (corpus, vector_key);
CREATE INDEX leaves_not_indexed ON anabranch.leaves (corpus, id) WHERE length IS NULL;
CREATE TABLE anabranch.vectors (
    corpus int NOT NULL REFERENCES anabranch.corpora ON DELETE CASCADE,
    vector_key text NOT NULL,
    embedder text NOT NULL,
    vector vector NOT NULL,
    PRIMARY KEY (corpus, vector_key, embedder)
);
"""

# A term is the first 64 bits of a hash of it: of a million distinct ones, two meet with a chance of one in forty
# million. Everything that a score needs is in the index, so that no row of another table is looked up for a posting,
# and none has a foreign key, which would be looked up for each that is written.
_POSTINGS = """
CREATE TABLE anabranch.postings (
    corpus int NOT NULL,
    term bigint NOT NULL,
    leaf bigint NOT NULL,
    count smallint NOT NULL,
    length int NOT NULL,
    audience int NOT NULL,
    born int NOT NULL,
    PRIMARY KEY (corpus, term, leaf) INCLUDE (count, length, audience, born)
);
"""

# By audience, because what a caller may not read counts for nothing in their scores; by birth, because what is not
# published does not either.
_STATISTICS = """
CREATE TABLE anabranch.term_frequencies (
    corpus int NOT NULL REFERENCES anabranch.corpora ON DELETE CASCADE,
    term bigint NOT NULL,
    audience int NOT NULL,
    born int NOT NULL,
    leaves int NOT NULL,
    PRIMARY KEY (corpus, term, audience, born) INCLUDE (leaves)
);
CREATE TABLE anabranch.audience_sizes (
    corpus int NOT NULL REFERENCES anabranch.corpora ON DELETE CASCADE,
    audience int NOT NULL,
    born int NOT NULL,
    leaves int NOT NULL,
    length bigint NOT NULL,
    PRIMARY KEY (corpus, audience, born)
);
"""

# A second lock behind the condition that each search has of its own: to a role that does not own the tables, the
# database shows the rows that the tags of this transaction open (`read_transaction`), and where none are told, none. An
# audience belongs to one corpus, so the corpus need not be looked at again. The condition is a list that is made once
# for a statement: a look at another table for each posting would take as long as the search.
_POLICIES = """
ALTER TABLE anabranch.audiences ENABLE ROW LEVEL SECURITY;
CREATE POLICY readable ON anabranch.audiences FOR SELECT USING (
    corpus = nullif(current_setting('anabranch.corpus', true), '')::int
    AND (tags = '{}' OR tags && nullif(current_setting('anabranch.access', true), '')::text[])
);
ALTER TABLE anabranch.chunks ENABLE ROW LEVEL SECURITY;
CREATE POLICY readable ON anabranch.chunks FOR SELECT USING (EXISTS (
    SELECT 1 FROM anabranch.documents d WHERE d.corpus = chunks.corpus AND d.number = chunks.document
));
ALTER TABLE anabranch.files ENABLE ROW LEVEL SECURITY;
CREATE POLICY readable ON anabranch.files FOR SELECT USING (EXISTS (
    SELECT 1 FROM anabranch.documents d WHERE d.corpus = files.corpus AND d.path_key = files.path_key
));
ALTER TABLE anabranch.vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE anabranch.jobs ENABLE ROW LEVEL SECURITY;
"""

_BY_AUDIENCE = """
ALTER TABLE anabranch.{0} ENABLE ROW LEVEL SECURITY;
CREATE POLICY readable ON anabranch.{0} FOR SELECT
    USING (audience = ANY(ARRAY(SELECT id FROM anabranch.audiences)));
"""
_POLICIES += "".join(map(_BY_AUDIENCE.format, ("documents", "leaves", "postings", "term_frequencies")))

# What a corpus holds is counted by its owner, whoever asks: a number tells nobody a word.
_SIZE = """
CREATE FUNCTION anabranch.holds_leaves(asked int, generation int) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT 1 FROM anabranch.leaves l WHERE l.corpus = asked AND l.born <= generation)
$$;
CREATE FUNCTION anabranch.corpus_size(asked int)
RETURNS TABLE (documents bigint, chunks bigint, leaves bigint, tokens bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT count(*), (SELECT count(*) FROM anabranch.chunks c WHERE c.corpus = asked),
        coalesce(sum(d.leaves), 0)::bigint, coalesce(sum(d.tokens), 0)::bigint
    FROM anabranch.documents d WHERE d.corpus = asked
$$;
"""

# A file that a worker has to take in. `lease` is until when a running one is its worker's, and until when a waiting one
# waits. By the hash of their path, as files are.
_JOBS = """
CREATE TABLE anabranch.jobs (
    corpus int NOT NULL REFERENCES anabranch.corpora ON DELETE CASCADE,
    id bigint GENERATED ALWAYS AS IDENTITY,
    path_key text NOT NULL,
    path text NOT NULL,
    place text NOT NULL,
    source text NOT NULL,
    options text NOT NULL,
    access jsonb NOT NULL,
    gone jsonb NOT NULL,
    state text NOT NULL DEFAULT 'todo' CHECK (state IN ('todo', 'running', 'done', 'failed')),
    tries int NOT NULL DEFAULT 0,
    worker text NOT NULL DEFAULT '',
    lease timestamptz NOT NULL DEFAULT now(),
    changed timestamptz NOT NULL DEFAULT now(),
    passages int NOT NULL DEFAULT 0,
    error text NOT NULL DEFAULT '',
    PRIMARY KEY (corpus, id),
    UNIQUE (corpus, path_key)
);
CREATE INDEX jobs_open ON anabranch.jobs (corpus, id) WHERE state IN ('todo', 'running');
CREATE INDEX jobs_by_state ON anabranch.jobs (corpus, state, changed);
"""

# The words of a leaf in a row of their own, which is there once they are counted: to put them into the row of the leaf
# would write that anew, with its vector and its entries in all indexes, of which one is of vectors. Who could read
# leaves can read these.
_WORDS = """
CREATE TABLE anabranch.leaf_words (
    corpus int NOT NULL,
    leaf bigint NOT NULL,
    audience int NOT NULL,
    length int NOT NULL,
    terms bigint[] NOT NULL,
    counts smallint[] NOT NULL,
    PRIMARY KEY (corpus, leaf)
);
INSERT INTO anabranch.leaf_words
SELECT l.corpus, l.id, l.audience, l.length, l.terms, ARRAY(
    SELECT coalesce(p.count, 0) FROM unnest(l.terms) WITH ORDINALITY AS a(term, place)
    LEFT JOIN anabranch.postings p ON p.corpus = l.corpus AND p.term = a.term AND p.leaf = l.id ORDER BY a.place
) FROM anabranch.leaves l WHERE l.length IS NOT NULL;
DROP INDEX anabranch.leaves_not_indexed;
ALTER TABLE anabranch.leaves DROP COLUMN length, DROP COLUMN terms;
DO $$
DECLARE reader text;
BEGIN
    -- A member of the role that owns the tables may have come first.
    EXECUTE (SELECT format('ALTER TABLE anabranch.leaf_words OWNER TO %I', tableowner)
             FROM pg_tables WHERE schemaname = 'anabranch' AND tablename = 'leaves');
    FOR reader IN
        SELECT DISTINCT coalesce(r.rolname::text, '') FROM pg_class c, aclexplode(c.relacl) a
        LEFT JOIN pg_roles r ON r.oid = a.grantee
        WHERE c.oid = 'anabranch.leaves'::regclass AND a.privilege_type = 'SELECT'
    LOOP
        EXECUTE 'GRANT SELECT ON anabranch.leaf_words TO ' || coalesce(quote_ident(nullif(reader, '')), 'PUBLIC');
    END LOOP;
END $$;
"""

# Looked up for each row that is written, which took as long as the row, and longer where documents were few when the
# first one was looked up. Whoever writes holds the corpus, a document comes in one transaction with its rows, and takes
# them along when it goes.
_KEYS = """
ALTER TABLE anabranch.term_frequencies DROP CONSTRAINT term_frequencies_corpus_fkey;
ALTER TABLE anabranch.vectors DROP CONSTRAINT vectors_corpus_fkey;
ALTER TABLE anabranch.leaves DROP CONSTRAINT leaves_corpus_document_fkey;
ALTER TABLE anabranch.chunks DROP CONSTRAINT chunks_corpus_document_fkey;
"""

MIGRATIONS = (
    _CORPORA + _FILES + _DOCUMENTS + _LEAVES + _POSTINGS + _STATISTICS, _JOBS, _POLICIES + _SIZE,
    _WORDS + _BY_AUDIENCE.format("leaf_words") + _KEYS,
)  # fmt: skip
"""What leads from each version to the next one, beginning with none."""

VERSION = len(MIGRATIONS)
