"""The tables of corpora in PostgreSQL, and the upgrades from earlier versions.

Every key begins with the corpus, so that what belongs to one organisation (`postgresql://.../name#{tenant}`) is stored
together, and a search touches no other.
"""

from __future__ import annotations

# Readers see `generation`; new rows are born in the next one, which `publish` makes visible. `changes` counts writes,
# `published` is its value at the last publication.
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

# Keyed by a hash of the path, because an index entry has at most 2,700 bytes.
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

# An audience is a set of access tags of some document. There are few, so passages, postings and word counts refer to
# them by number, and a search checks tags once instead of for each passage.
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

# What searches read of a leaf; `terms` and `length` have moved to `leaf_words`. Vectors without a leaf stay in
# `vectors`: text that moves or comes back is not embedded again.
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

# A term is the first 64 bits of its hash: a million terms collide with a chance of one in forty million. The index
# holds all that a score needs, so postings need no other table, and no foreign key, which would be checked for each
# row.
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

# By audience, because hidden leaves must not count in a caller's scores; by birth, because unpublished ones must not
# either.
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

# A second lock behind the condition of each search: a role that does not own the tables sees only rows that the tags of
# its transaction open (`read_transaction`), and none without tags. An audience belongs to one corpus, so the corpus
# need not be checked again. The condition is a list made once per statement: a look-up per posting would take as long
# as the search.
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

# Counts run as the owner for every caller: a number reveals no content.
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

# A file to ingest. `lease` is the time until which a running job belongs to its worker, or a waiting one waits. Keyed
# by a hash of the path, like files.
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

# The words of a leaf have their own row, written when they are counted: updating the row of the leaf would rewrite its
# vector and all index entries. Readers of leaves may read these.
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

# Checking these keys took as long as writing a row, or longer after a small start. They are not needed: a writer holds
# the corpus, and writes and removes a document with its rows in one transaction.
_KEYS = """
ALTER TABLE anabranch.term_frequencies DROP CONSTRAINT term_frequencies_corpus_fkey;
ALTER TABLE anabranch.vectors DROP CONSTRAINT vectors_corpus_fkey;
ALTER TABLE anabranch.leaves DROP CONSTRAINT leaves_corpus_document_fkey;
ALTER TABLE anabranch.chunks DROP CONSTRAINT chunks_corpus_document_fkey;
"""

# What a chat model wrote of a document. A changed document gets a new row, without it.
_SUMMARIES = """
ALTER TABLE anabranch.documents ADD COLUMN summary text NOT NULL DEFAULT '';
"""

# As in a folder; NULL for what an earlier version wrote.
_CHECKSUMS = """
ALTER TABLE anabranch.documents ADD COLUMN checksum text;
"""

MIGRATIONS = (
    _CORPORA + _FILES + _DOCUMENTS + _LEAVES + _POSTINGS + _STATISTICS, _JOBS, _POLICIES + _SIZE,
    _WORDS + _BY_AUDIENCE.format("leaf_words") + _KEYS, _SUMMARIES, _CHECKSUMS,
)  # fmt: skip
"""The statements that lead from each version to the next, beginning with an empty database."""

VERSION = len(MIGRATIONS)
