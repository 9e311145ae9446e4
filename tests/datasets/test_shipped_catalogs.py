"""The catalogs that come with toolbelt: what they must hold, name by name, and how good they must be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from toolbelt.catalog import PLUGIN_CATEGORY_MAP, Catalog
from toolbelt.catalog.lint import lint_catalog
from toolbelt.stores.catalogs import open_catalog

SHIPPED = pytest.mark.parametrize("name", ["assistant", "tiered"])
TIERS: dict[str, str] = {
    "core": (
        "create_task list_tasks edit_task get_task browse_tools load_tools memory_search send_message "
        "browse_rules load_rule save_rule delete_rule"
    ),
    "git": (
        "get_git_status git_commit git_pull git_push git_create_branch git_merge git_create_pr "
        "git_changed_files git_log git_diff checkout_branch"
    ),
    "project": (
        "list_projects create_project pause_project resume_project edit_project set_default_branch "
        "get_project_channels get_project_for_channel add_workspace list_workspaces "
        "find_merge_conflict_workspaces release_workspace remove_workspace sync_workspaces set_active_project "
        "delete_project"
    ),
    "agent": (
        "list_agents create_agent edit_agent pause_agent resume_agent delete_agent get_agent_error "
        "list_profiles create_profile get_profile edit_profile delete_profile list_available_tools "
        "check_profile install_profile export_profile import_profile"
    ),
    "hooks": "create_hook list_hooks edit_hook delete_hook list_hook_runs fire_hook",
    "memory": (
        "list_notes write_note append_note read_note delete_note promote_note compare_specs_notes "
        "memory_stats memory_reindex view_profile edit_project_profile regenerate_profile compact_memory"
    ),
    "files": "read_file write_file edit_file glob_files grep search_files list_directory run_command",
    "system": (
        "list_active_tasks_all_projects get_task_tree stop_task restart_task reopen_with_feedback delete_task "
        "archive_task list_archived restore_task approve_task approve_plan reject_plan delete_plan skip_task "
        "get_task_dependencies add_dependency remove_dependency get_chain_health get_status get_recent_events "
        "get_task_result get_task_diff get_token_usage list_prompts read_prompt render_prompt restart_daemon "
        "orchestrator_control"
    ),
}
SEED_TOOLS: dict[str, str] = {
    "batchEdit": "batch_edit_files",
    "benchmark": "benchmark_scorecard benchmark_run benchmark_export benchmark_regression",
    "browser": "browser_status browser_open browser_screenshot browser_pdf browser_content browser_console",
    "capabilities": "capability_list capability_detail capability_usage capability_gaps capability_scaffold",
    "channels": "channel_list channel_status channel_send channel_connect channel_disconnect",
    "clipboard": "read_clipboard write_clipboard",
    "diff": "create_patch apply_patch",
    "encoding": "encode_base64 decode_base64 encode_url decode_url decode_jwt hash_compute generate_guid",
    "environment": "get_environment",
    "runtime": "exec process",
    "file": "read_file write_file edit_file list_directory",
    "github": (
        "list_issues get_issue create_issue close_issue list_prs get_pr create_pr merge_pr pr_checks "
        "pr_review repo_info search_issues list_runs run_details list_releases auth_status"
    ),
    "git": "git_status git_diff git_log git_commit git_push git_pull git_branch git_checkout git_stash",
    "mcp": "mcp_list_servers mcp_transport_matrix mcp_diagnose mcp_credential_status mcp_export_config",
    "mcpEcosystem": "mcp_import_scan mcp_sync mcp_drift mcp_quarantine mcp_export",
    "memory": "memory_store memory_search memory_forget",
    "migration": "migration_scan migration_analyze migration_convert migration_parity migration_export",
    "multimodal": "image_analyze pdf_analyze media_view",
    "notebook": "execute_code",
    "policy": "policy_evaluate policy_list policy_validate policy_export audit_query rbac_check",
    "scheduler": "cron_list cron_add cron_remove cron_update cron_run cron_history",
    "search": "grep glob",
    "shell": "run_command",
    "sessions": "sessions_list sessions_history sessions_spawn sessions_status agents_list sessions_send",
    "tailscale": "tailscale_status tailscale_machines tailscale_configure tailscale_runner_probe tailscale_export",
    "tasks": "task_create task_list task_update task_complete task_export",
    "think": "think",
    "usage": "get_usage reset_usage",
    "web": "web_fetch",
    "websearch": "web_search",
}
PLUGINS = [
    "file",
    "batchEdit",
    "diff",
    "notebook",
    "migration",
    "git",
    "github",
    "shell",
    "environment",
    "clipboard",
    "runtime",
    "web",
    "browser",
    "search",
    "websearch",
    "tailscale",
    "memory",
    "tasks",
    "sessions",
    "mcp",
    "mcpEcosystem",
    "capabilities",
    "channels",
    "think",
    "parityDocs",
    "skillParity",
    "benchmark",
    "usage",
    "scheduler",
    "multimodal",
    "policy",
    "encoding",
]
DISCOVERABLE_ONLY = ["docker", "kubernetes", "terraform"]


@pytest.fixture(scope="module")
def tiered() -> Catalog:
    return open_catalog("tiered").catalog


@pytest.fixture(scope="module")
def assistant() -> Catalog:
    return open_catalog("assistant").catalog


@pytest.mark.parametrize(
    ("tier", "count"),
    [
        ("core", 12),
        ("git", 11),
        ("project", 16),
        ("agent", 17),
        ("hooks", 6),
        ("memory", 13),
        ("files", 8),
        ("system", 28),
    ],
)
def test_T6_each_tier_has_its_tools_in_order(tiered: Catalog, tier: str, count: int) -> None:
    names = [tool.name for tool in tiered.get_plugin(tier).tools]
    assert names == TIERS[tier].split()
    assert len(names) == count


def test_T6_the_tiers_are_in_order_and_are_categories(tiered: Catalog) -> None:
    assert [plugin.name for plugin in tiered.plugins] == list(TIERS)
    assert len(tiered.tools) == 111
    assert list(tiered.categories) == list(TIERS)[1:], "the order in which they are browsed"
    assert all(tiered.categories.values())
    for plugin in tiered.plugins:
        assert plugin.effective_category == (None if plugin.name == "core" else plugin.name)


def test_T1_the_core_is_the_core_tier(tiered: Catalog) -> None:
    assert [tiered.get_tool(tool_id).name for tool_id in tiered.core] == TIERS["core"].split()
    assert {"core/browse_tools", "core/load_tools"} <= set(tiered.core)


def test_T5_names_are_unique_over_all_tiers(tiered: Catalog) -> None:
    names = [tool.name for tool in tiered.tools]
    assert len(set(names)) == len(names) == sum(len(tier.split()) for tier in TIERS.values())
    assert tiered.unique_names, "and the catalog promises it"
    assert dict(tiered.shared_names) == {}
    assert {tool.id: tool.name for tool in tiered.tools} == dict(tiered.wire_names)


def test_L2_the_assistant_has_the_plugins_of_the_seed_and_three_more(assistant: Catalog) -> None:
    assert sorted(plugin.name for plugin in assistant.plugins) == sorted(PLUGINS + DISCOVERABLE_ONLY)
    assert len(assistant.plugins) == 35
    assert sorted(PLUGINS) == sorted(PLUGIN_CATEGORY_MAP)
    for name in PLUGINS:
        assert assistant.get_plugin(name).effective_category == PLUGIN_CATEGORY_MAP[name].value
    for name in DISCOVERABLE_ONLY:
        assert assistant.get_plugin(name).effective_category is None
        assert assistant.get_plugin(name).tools


@pytest.mark.parametrize("plugin", SEED_TOOLS)
def test_the_assistant_has_the_tools_of_the_seed(assistant: Catalog, plugin: str) -> None:
    assert set(SEED_TOOLS[plugin].split()) <= {tool.name for tool in assistant.get_plugin(plugin).tools}


def test_the_assistant_is_of_a_realistic_size(assistant: Catalog) -> None:
    assert len(assistant.tools) >= 150
    assert [plugin.name for plugin in assistant.plugins if not plugin.tools] == []


@SHIPPED
def test_lint_finds_nothing(name: str) -> None:
    made = open_catalog(name)
    assert [(subject.name, str(finding)) for subject, finding in lint_catalog(made.catalog)] == []
    assert made.notes == ()


@SHIPPED
def test_each_schema_is_valid_and_each_property_described(name: str) -> None:
    for tool in open_catalog(name).catalog.tools:
        Draft202012Validator.check_schema(tool.parameters)
        assert tool.parameters.get("type") == "object", tool.id
        bare = [
            place for place, schema in properties(tool.parameters) if not str(schema.get("description", "")).strip()
        ]
        assert bare == [], tool.id
        assert set(tool.parameters.get("required", [])) <= set(tool.parameters.get("properties", {})), tool.id


@SHIPPED
def test_each_tool_and_plugin_is_described_and_hinted(name: str) -> None:
    catalog = open_catalog(name).catalog
    assert [tool.id for tool in catalog.tools if len(tool.description) < 20] == []
    assert [plugin.name for plugin in catalog.plugins if not plugin.description.strip()] == []
    hints = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "title"}
    assert [tool.id for tool in catalog.tools if not tool.annotations.keys() <= hints] == []
    contradicting = [
        t.id for t in catalog.tools if t.annotations.get("readOnlyHint") and t.annotations.get("destructiveHint")
    ]
    assert contradicting == []


@SHIPPED
def test_every_tool_has_its_line(name: str) -> None:
    made = open_catalog(name)
    lines = [made.find_line(tool) or 0 for tool in made.catalog.tools]
    assert lines == sorted(set(lines))


def properties(schema: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every property, also of objects inside."""
    if isinstance(schema, list):
        for item in schema:
            yield from properties(item, place)
    elif isinstance(schema, dict):
        for key, value in schema.items():
            if key == "properties":
                for name, inner in value.items():
                    yield f"{place}/{name}", inner
                    yield from properties(inner, f"{place}/{name}")
            elif isinstance(value, dict | list):
                yield from properties(value, place)
