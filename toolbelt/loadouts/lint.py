"""What is wrong or doubtful about written loadouts (rule L10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from toolbelt.catalog import Catalog, Plugin, Tool, ToolCategory
from toolbelt.errors import suggestion
from toolbelt.findings import Finding, Severity
from toolbelt.loadouts.reader import WrittenLoadout
from toolbelt.loadouts.registry import BUILT_IN_LOADOUTS, ToolLoadoutRegistry
from toolbelt.loadouts.selection import ALL_PLUGINS, Status
from toolbelt.patterns import covers, fold, has_inner_star, is_prefix_pattern, matches

Check = Callable[[WrittenLoadout, ToolLoadoutRegistry, Catalog], Iterator[Finding]]


def lint_definitions(written: Sequence[WrittenLoadout], registry: ToolLoadoutRegistry) -> tuple[Finding, ...]:
    """Mistakes that are mistakes whatever the catalog.

    Args:
        written: The user's loadouts.
        registry: With them registered, beside the built-in ones.
    """
    return (
        *_repeated_names(written),
        *_cycles(written, registry),
        *(finding for definition in written for finding in _lint_definition(definition, registry)),
    )


def lint_against_catalog(
    definition: WrittenLoadout, registry: ToolLoadoutRegistry, catalog: Catalog
) -> tuple[Finding, ...]:
    """What of a loadout is wrong or doubtful for one catalog."""
    return tuple(finding for check in _CATALOG_CHECKS for finding in check(definition, registry, catalog))


def lint_catalog_for_loadouts(
    catalog: Catalog, registry: ToolLoadoutRegistry
) -> tuple[tuple[str | None, Finding], ...]:
    """What of a catalog no loadout can do justice to.

    Returns:
        Pairs of a plugin's name (`None` for the catalog as a whole) and its finding, without file and line.
    """
    return (*_uncategorised(catalog), *_ladder(catalog, registry))


def _lint_definition(definition: WrittenLoadout, registry: ToolLoadoutRegistry) -> Iterator[Finding]:
    yield from _unknown_parent(definition, registry)
    yield from _included_and_disabled(definition)
    yield from _inner_stars(definition)
    yield from _repeated_entries(definition)
    yield from _redundant_patterns(definition, registry)


def _unknown_parent(definition: WrittenLoadout, registry: ToolLoadoutRegistry) -> Iterator[Finding]:
    parent = definition.loadout.parent_loadout_name
    if parent is not None and registry.get_loadout(parent) is None:
        known = [loadout.name for loadout in registry.get_all()]
        message = (
            f"Loadout {definition.loadout.name!r} extends {parent!r}, which does not exist.{suggestion(parent, known)}"
        )
        yield definition.finding("unknown-parent", message, "extends")


def _cycles(written: Sequence[WrittenLoadout], registry: ToolLoadoutRegistry) -> Iterator[Finding]:
    """Each cycle once, at the first of its members in the files, not at what merely leads into it."""
    by_key = {fold(definition.loadout.name): definition for definition in reversed(written)}
    order = {
        key: number for number, key in enumerate(fold(definition.loadout.name) for definition in reversed(written))
    }
    done: set[str] = set()
    for definition in written:
        path: dict[str, str] = {}
        name: str | None = definition.loadout.name
        while name is not None and fold(name) not in path and fold(name) not in done:
            loadout = registry.get_loadout(name)
            path[fold(name)] = loadout.name if loadout else name
            name = loadout.parent_loadout_name if loadout else None
        done.update(path)
        if name is None or fold(name) not in path:
            continue
        keys = list(path)
        members = keys[keys.index(fold(name)) :]
        first = max((key for key in members if key in by_key), key=lambda key: order[key])
        turned = [*members[members.index(first) :], *members[: members.index(first)]]
        advice = " To build on the built-in of that name, give yours another." if len(turned) == 1 else ""
        closing = registry.require_loadout(turned[-1]).parent_loadout_name or first  # as it is written there
        shown = " → ".join([*(path[key] for key in turned), closing])
        yield by_key[first].finding("cycle", f"Loadouts extend each other in a cycle: {shown}.{advice}", "extends")


def _included_and_disabled(definition: WrittenLoadout) -> Iterator[Finding]:
    blocked = {fold(entry): entry for entry in definition.entries("disabled")}
    name = definition.loadout.name
    for key in ("plugins", "discoverable"):
        for index, entry in definition.numbered(key):
            if fold(entry) in blocked:
                message = f"Loadout {name!r} has {entry!r} under both `{key}` and `disabled`; disabled wins."
                yield definition.finding("included-and-disabled", message, key, index)
            elif (wider := _find_blocking(fold(entry), blocked)) is not None:
                message = f"Loadout {name!r} names {entry!r} under `{key}`, but disables {wider!r}; disabled wins."
                yield definition.finding("included-and-disabled", message, key, index)


def _find_blocking(entry: str, blocked: Mapping[str, str]) -> str | None:
    """The disabled plugin, or `plugin/prefix*`, that an entry for tools is of; all folded but the result."""
    plugins = [entry[:index] for index, character in enumerate(entry) if character == "/"]
    if (plugin := next((plugin for plugin in plugins if plugin in blocked), None)) is not None:
        return blocked[plugin]
    patterns = (wider for wider in blocked if "/" in wider and is_prefix_pattern(wider))
    return next((blocked[wider] for wider in patterns if covers(wider, entry)), None)


def _inner_stars(definition: WrittenLoadout) -> Iterator[Finding]:
    for key in ("plugins", "discoverable", "disabled"):
        for index, entry in definition.numbered(key):
            if has_inner_star(entry):
                message = f"The star inside {entry!r} is a plain character; only one at the end makes a prefix."
                yield definition.finding("star-in-the-middle", message, key, index, severity=Severity.WARNING)


def _repeated_entries(definition: WrittenLoadout) -> Iterator[Finding]:
    for key in ("categories", "plugins", "discoverable", "disabled"):
        seen: set[str] = set()
        for index, entry in definition.numbered(key):
            if fold(entry) in seen:
                message = f"{entry!r} stands more than once under `{key}`."
                yield definition.finding("repeated-entry", message, key, index, severity=Severity.WARNING)
            seen.add(fold(entry))


def _redundant_patterns(definition: WrittenLoadout, registry: ToolLoadoutRegistry) -> Iterator[Finding]:
    for index, pattern in definition.numbered("discoverable"):
        if (wider := _find_wider(definition, registry, pattern)) is not None:
            message = f"The pattern {pattern!r} adds nothing: {wider[1]!r} of {wider[0]} covers it."
            yield definition.finding("redundant-pattern", message, "discoverable", index, severity=Severity.WARNING)


def _find_wider(definition: WrittenLoadout, registry: ToolLoadoutRegistry, pattern: str) -> tuple[str, str] | None:
    """Another pattern of the chain that covers `pattern`, with the loadout it is of."""
    chain = registry.trace_lineage(definition.loadout.name).loadouts
    inherited = [(link.name, other) for link in chain[:-1] for other in link.discoverable_patterns]
    own = [
        (definition.loadout.name, other) for other in definition.entries("discoverable") if fold(other) != fold(pattern)
    ]
    return next(((name, other) for name, other in (*inherited, *own) if covers(other, pattern)), None)


def _repeated_names(written: Sequence[WrittenLoadout]) -> Iterator[Finding]:
    seen: dict[str, WrittenLoadout] = {}
    for definition in written:
        first = seen.setdefault(fold(definition.loadout.name), definition)
        if first is not definition:
            place = first.finding("", "").place
            message = f"Loadout {definition.loadout.name!r} is defined already at {place}; names ignore case."
            yield definition.finding("duplicate-loadout", message)


def _unknown_categories(definition: WrittenLoadout, _: ToolLoadoutRegistry, catalog: Catalog) -> Iterator[Finding]:
    known = {fold(category): str(category) for category in (*ToolCategory, *catalog.categories)}
    for index, entry in definition.numbered("categories"):
        if fold(entry.strip()) not in known:
            message = f"There is no category {entry!r}.{suggestion(entry, known.values())}"
            yield definition.finding("unknown-category", message, "categories", index)


def _unknown_plugins(definition: WrittenLoadout, _: ToolLoadoutRegistry, catalog: Catalog) -> Iterator[Finding]:
    for key in ("plugins", "disabled"):
        for index, entry in definition.numbered(key):
            if key == "plugins" and entry == ALL_PLUGINS:
                continue
            if catalog.find_plugin(entry) is None and not _addresses_a_tool(entry, catalog):
                if (off := catalog.find_switched_off(entry)) is not None:
                    message = f"{entry!r} is not shown: {off.name!r} is {off.why}"
                    yield definition.finding("switched-off", message, key, index, severity=Severity.WARNING)
                else:
                    yield definition.finding(*_unknown_name(entry, key, catalog), key, index)


def _unknown_name(entry: str, key: str, catalog: Catalog) -> tuple[str, str]:
    owners = [plugin for plugin in catalog.plugins if fold(entry).startswith(f"{plugin.key}/")]
    if owners:
        owner = max(owners, key=lambda plugin: len(plugin.key))  # names may hold slashes
        rest = "/".join(entry.split("/")[owner.name.count("/") + 1 :])
        known = [tool.name for tool in owner.tools]
        return "unknown-tool", f"Plugin {owner.name!r} has no tool {rest!r}.{suggestion(rest, known)}"
    if is_prefix_pattern(entry) and "/" not in entry:
        return (
            "unknown-plugin",
            f"`{key}` takes names, not the pattern {entry!r}; list the plugins one by one.",
        )
    names = [plugin.name for plugin in catalog.plugins]
    hint = suggestion(entry.partition("/")[0], names)
    return "unknown-plugin", f"Catalog {catalog.name!r} has no plugin {entry!r}.{hint}"


def _idle_patterns(definition: WrittenLoadout, registry: ToolLoadoutRegistry, catalog: Catalog) -> Iterator[Finding]:
    """Patterns that match nothing, or only what is active or disabled in any case."""
    resolution = registry.resolve(definition.loadout.name, catalog)
    disabled = {fold(entry) for entry in definition.entries("disabled")}
    for index, pattern in definition.numbered("discoverable"):
        if fold(pattern) in disabled:
            continue  # reported as that
        matched = _matched_tools(pattern, catalog)
        plugins = [plugin for plugin in catalog.plugins if matches(pattern, plugin.name)]
        if not matched and not plugins:
            names = [plugin.name for plugin in catalog.plugins]
            hint = "" if is_prefix_pattern(pattern) else suggestion(pattern, names)
            message = f"The pattern {pattern!r} matches nothing in catalog {catalog.name!r}.{hint}"
            yield definition.finding("idle-pattern", message, "discoverable", index, severity=Severity.WARNING)
            continue
        statuses = {resolution.tool_status(plugin, tool) for plugin, tool in matched}
        statuses |= {resolution.plugin_status(plugin) for plugin in plugins}
        if Status.DISCOVERABLE not in statuses and _find_wider(definition, registry, pattern) is None:
            message = f"The pattern {pattern!r} adds nothing: all it matches is active or disabled already."
            yield definition.finding("redundant-pattern", message, "discoverable", index, severity=Severity.WARNING)


def _matched_tools(pattern: str, catalog: Catalog) -> list[tuple[Plugin, Tool]]:
    return [
        (plugin, tool)
        for plugin in catalog.plugins
        for tool in plugin.tools
        if matches(pattern, plugin.name) or _addresses(pattern, plugin, tool)
    ]


def _matches_nothing(definition: WrittenLoadout, registry: ToolLoadoutRegistry, catalog: Catalog) -> Iterator[Finding]:
    if not registry.resolve_active_plugins(definition.loadout.name, catalog.plugins):
        message = f"Loadout {definition.loadout.name!r} makes nothing of catalog {catalog.name!r} active."
        yield definition.finding("matches-nothing", message, severity=Severity.WARNING)


def _uncategorised(catalog: Catalog) -> Iterator[tuple[str | None, Finding]]:
    # A pattern of the built-in loadouts made for such plugins (`docker*`) says that this is meant; core tools
    # are in no tier, and so in no category.
    meant = [p for loadout in BUILT_IN_LOADOUTS for p in loadout.discoverable_patterns if p != "*"]
    core = set(catalog.core)
    for plugin in catalog.plugins:
        if plugin.effective_category is not None or any(matches(pattern, plugin.name) for pattern in meant):
            continue
        if not plugin.tools or any(tool.id not in core for tool in plugin.tools):
            message = f"Plugin {plugin.name!r} has no category, so that loadouts reach it by name alone."
            yield plugin.name, Finding("no-category", Severity.WARNING, message)


def _ladder(catalog: Catalog, registry: ToolLoadoutRegistry) -> Iterator[tuple[str | None, Finding]]:
    if not catalog.ladder:
        return
    from toolbelt.loadouts.auto import ladder_of  # looked at when a catalog is linted, not with each loadout

    for rung in ladder_of(catalog):
        if registry.get_loadout(rung.loadout) is None:
            known = [loadout.name for loadout in registry.get_all()]
            message = f"The ladder names {rung.loadout!r}, which is no loadout.{suggestion(rung.loadout, known)}"
            yield None, Finding("unknown-rung", Severity.ERROR, message)


def _addresses_a_tool(entry: str, catalog: Catalog) -> bool:
    return any(_addresses(entry, plugin, tool) for plugin in catalog.plugins for tool in plugin.tools)


def _addresses(entry: str, plugin: Plugin, tool: Tool) -> bool:
    """Whether `entry` is `plugin/tool`, or `plugin/prefix*` of it."""
    folded, start = fold(entry), f"{plugin.key}/"
    return folded.startswith(start) and matches(folded[len(start) :], tool.name)


_CATALOG_CHECKS: tuple[Check, ...] = (_unknown_categories, _unknown_plugins, _idle_patterns, _matches_nothing)
