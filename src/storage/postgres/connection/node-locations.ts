import type { Statement } from '../../sql/sql-writer.ts';
import type { Row } from './database.ts';

/**
 * Reads where the schemas of systems lie in a cluster, for `locationsFrom`: all tables of a schema lie on one node, so its catalogue stands for them.
 * Reads metadata of the coordinator alone. Fails on a server that is no coordinator.
 */
export const locationsStatement: Statement = {
  text: `SELECT n.nspname, d.nodename || ':' || d.nodeport FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_dist_shard AS s ON s.logicalrelid = c.oid JOIN pg_dist_placement AS p USING (shardid)
    JOIN pg_dist_node AS d ON d.groupid = p.groupid AND d.noderole = 'primary'
    WHERE c.relname = 'rds_catalog' AND starts_with(n.nspname, 'rds_')`,
  params: [],
};

/** Returns `host:port` of the node of each schema. Schemas that lie on the coordinator itself are not among them. */
export function locationsFrom(rows: readonly Row[]): ReadonlyMap<string, string> {
  return new Map(rows.map(([schema, node]) => [String(schema), String(node)]));
}
