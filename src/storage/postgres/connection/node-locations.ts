import type { Statement } from '../../sql/sql-writer.ts';
import type { Row } from './database.ts';

/** The nodes of a cluster, and where the schemas of systems lie. */
export interface NodeLocations {
  /** `host:port` of each active node. */
  readonly nodes: ReadonlySet<string>;
  /** Node of each distributed schema. The coordinator may be one. */
  readonly bySchema: ReadonlyMap<string, string>;
}

export const noLocations: NodeLocations = { nodes: new Set(), bySchema: new Map() };

/**
 * Reads the metadata of a coordinator, for `locationsFrom`: all tables of a schema lie on one node, so its catalogue stands for them. Fails where the
 * database has no such metadata.
 */
export const locationsStatement: Statement = {
  text: `SELECT n.nspname, d.nodename || ':' || d.nodeport FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_dist_shard AS s ON s.logicalrelid = c.oid JOIN pg_dist_placement AS p USING (shardid)
    JOIN pg_dist_node AS d ON d.groupid = p.groupid AND d.noderole = 'primary'
    WHERE c.relname = 'rds_catalog' AND starts_with(n.nspname, 'rds_')
    UNION ALL SELECT NULL, nodename || ':' || nodeport FROM pg_dist_node WHERE noderole = 'primary' AND isactive`,
  params: [],
};

export function locationsFrom(rows: readonly Row[]): NodeLocations {
  const bySchema = new Map<string, string>();
  for (const [schema, node] of rows) if (schema !== null) bySchema.set(String(schema), String(node));
  return { nodes: new Set(rows.map(([, node]) => String(node))), bySchema };
}
