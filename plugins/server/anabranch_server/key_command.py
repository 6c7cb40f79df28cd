"""`anabranch key`: make an API key for a server."""

from __future__ import annotations

from typing import Annotated

import typer

from anabranch.cli.failures import guarded
from anabranch.cli.output import notes
from anabranch.cli.typer_command import PlainCommand, PlainGroup

key = typer.Typer(
    cls=PlainGroup,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Make API keys for the people who use a server.",
)


@key.command("new", cls=PlainCommand)
@guarded
def new(
    identity: Annotated[str, typer.Option(metavar="NAME", help="Person who gets the key.")],
    *,
    access: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="Access tag of that person; may be repeated.")
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option(metavar="ROLE", help="ask [dim](the default)[/], ingest or admin; may be repeated."),
    ] = None,
    tenant: Annotated[str | None, typer.Option(metavar="NAME", help="Tenant whose corpus they use.")] = None,
) -> None:
    """Print a fresh key, once, and the lines for the file in ANABRANCH_AUTH, which hold only its hash.

    The key goes to standard error and the lines to standard output, so that these can be appended to the file.

    [bold]Examples:[/]

    anabranch key new --identity alice --access hr --role ask

    anabranch key new --identity inbox --access staff --role ingest >> auth.yaml
    """
    import yaml
    from pydantic import ValidationError

    from anabranch.errors import SettingsError
    from anabranch_server.identity.api_keys import digest_of_secret, new_key
    from anabranch_server.identity.auth_file import KeyEntry

    secret = new_key()
    values = {"identity": identity, "sha256": digest_of_secret(secret), "tenant": tenant, "access": access or []}
    values["roles"] = role or ["ask"]
    try:
        # Validated as in the file: an invalid line there would lock everybody out.
        KeyEntry.model_validate(values)
    except ValidationError as error:
        # The input is left out, because it holds the key's hash.
        item = error.errors(include_input=False)[0]
        msg = f"The key cannot be made: {item['loc'][0]}: {item['msg']}."
        raise SettingsError(msg, hint="See docs/server.md on several people.") from error
    given = {name: value for name, value in values.items() if value}
    notes().print(f"The key of {identity}, shown this once:\n{secret}\n", markup=False, highlight=False, soft_wrap=True)
    # Wide enough to keep each entry on one line, so that it can be found and removed again.
    text = yaml.safe_dump([given], sort_keys=False, allow_unicode=True, default_flow_style=None, width=1000)
    typer.echo("".join(f"  {line}\n" for line in text.splitlines()), nl=False)
