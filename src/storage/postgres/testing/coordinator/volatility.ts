/** How far PostgreSQL may evaluate a function in advance (`pg_proc.provolatile`), as far as a parse tree shows it. */
import { functionName, type Node, nodesIn, type Tree } from './tree.ts';

/** Functions that are volatile with any arguments. */
export const volatile: ReadonlySet<string> = new Set(
  `clock_timestamp timeofday random random_normal setseed gen_random_uuid uuidv4 uuidv7 nextval setval currval lastval
  pg_sleep pg_sleep_for pg_sleep_until pg_notify set_config pg_cancel_backend pg_terminate_backend pg_blocking_pids
  pg_advisory_lock pg_advisory_lock_shared pg_advisory_unlock pg_advisory_unlock_all pg_advisory_unlock_shared
  pg_advisory_xact_lock pg_advisory_xact_lock_shared pg_try_advisory_lock pg_try_advisory_lock_shared
  pg_try_advisory_xact_lock pg_try_advisory_xact_lock_shared pg_sequence_last_value pg_is_in_recovery
  pg_relation_size pg_table_size pg_indexes_size pg_total_relation_size pg_database_size`.split(/\s+/),
);

/** Stable functions whose result depends on the session, or on the server's clock. */
export const ofSession: ReadonlySet<string> = new Set(
  `now statement_timestamp transaction_timestamp current_setting current_database current_schema current_schemas
  pg_backend_pid pg_current_xact_id pg_current_xact_id_if_assigned pg_current_snapshot txid_current txid_current_snapshot
  inet_server_addr inet_server_port inet_client_addr inet_client_port pg_listening_channels version`.split(/\s+/),
);

/** Other stable functions: their result depends on settings such as the time zone. */
export const stable: ReadonlySet<string> = new Set(
  `to_json to_jsonb array_to_json row_to_json array_to_string concat concat_ws format quote_literal quote_nullable
  json_agg json_object_agg json_build_array json_build_object jsonb_agg jsonb_object_agg jsonb_build_array jsonb_build_object
  json_populate_record json_populate_recordset json_to_record json_to_recordset jsonb_populate_record jsonb_populate_recordset
  jsonb_to_record jsonb_to_recordset jsonb_path_exists_tz jsonb_path_match_tz jsonb_path_query_tz jsonb_path_query_array_tz
  jsonb_path_query_first_tz convert convert_from convert_to to_char to_date to_number make_timestamptz
  pg_column_size to_regclass to_regnamespace to_regtype pg_get_serial_sequence obj_description col_description format_type`.split(
    /\s+/,
  ),
);

/** Functions that are stable only if they read the default configuration of full text. */
export const stableWithoutConfiguration: ReadonlySet<string> = new Set([
  ...['to_tsvector', 'to_tsquery', 'plainto_tsquery', 'phraseto_tsquery', 'websearch_to_tsquery'],
]);

/** Functions that are immutable, except with a time that has a zone. The service stores no such times. */
export const stableWithZone: ReadonlySet<string> = new Set(
  `age date date_part date_trunc extract generate_series in_range length numeric overlaps time timestamp timetz timezone
  to_timestamp money`.split(/\s+/),
);

/** Returns whether a node calls a volatile function. */
export const isVolatile = ({ kind, tree }: Node): boolean => kind === 'FuncCall' && volatile.has(functionName(tree));

/** Returns whether a node depends on the session or its clock: the coordinator and the worker of a table give different answers. */
export function dependsOnSession(node: Node): boolean {
  return (
    isVolatile(node) || node.kind === 'SQLValueFunction' || (node.kind === 'FuncCall' && ofSession.has(functionName(node.tree)))
  );
}

/** Returns whether a node calls a function that is not immutable. Operators and casts are not examined: the tree has no types. */
export function isMutable(node: Node): boolean {
  if (node.kind !== 'FuncCall') return node.kind === 'SQLValueFunction';
  const name = functionName(node.tree);
  if (stableWithoutConfiguration.has(name)) return argsOf(node.tree).length < 2;
  return volatile.has(name) || ofSession.has(name) || stable.has(name);
}

/** Returns the arguments of a call. */
export const argsOf = ({ args = [] }: Tree): readonly unknown[] => args as readonly unknown[];

/** Returns whether a mutable function is called below a value. */
export function hasMutable(value: unknown, isLeaf?: (node: Node) => boolean): boolean {
  return nodesIn(value, isLeaf).some(isMutable);
}
