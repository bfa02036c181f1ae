/** Walks over PostgreSQL's parse tree as `libpg-query` writes it: a node is an object whose only member is its kind. */

/** The members of a node. */
export type Tree = Readonly<Record<string, unknown>>;

/** A node and its kind, as in PostgreSQL's `parsenodes.h`. */
export interface Node {
  readonly kind: string;
  readonly tree: Tree;
}

const isObject = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

/** Returns the node that a value is. */
export function nodeOf(value: unknown): Node | undefined {
  if (!isObject(value) || Array.isArray(value)) return undefined;
  const [kind = '', second] = Object.keys(value);
  const tree = value[kind];
  return second === undefined && /^[A-Z]/.test(kind) && isObject(tree) ? { kind, tree } : undefined;
}

/** Returns the members of a value that must be a node of a kind. */
export function treeOf(value: unknown, kind: string): Tree | undefined {
  const node = nodeOf(value);
  return node?.kind === kind ? node.tree : undefined;
}

/** Nodes below whole values: each rule asks for them. */
const known = new WeakMap<object, readonly Node[]>();

/**
 * Returns all nodes below a value, outer ones first. A table is of kind `RangeVar` wherever it stands.
 * @param isLeaf nodes that are returned without what is below them
 */
export function nodesIn(value: unknown, isLeaf?: (node: Node) => boolean): readonly Node[] {
  if (!isObject(value)) return [];
  const before = isLeaf ? undefined : known.get(value);
  if (before) return before;
  const nodes: Node[] = [];
  collect(value, isLeaf, nodes);
  if (!isLeaf) known.set(value, nodes);
  return nodes;
}

function collect(value: Tree, isLeaf: ((node: Node) => boolean) | undefined, nodes: Node[]): void {
  const node = nodeOf(value);
  if (node) {
    nodes.push(node);
    if (isLeaf?.(node)) return;
  }
  for (const [name, below] of Object.entries(node?.tree ?? value)) {
    if (!isObject(below)) continue;
    // The table that a statement modifies is not wrapped.
    collect('relname' in below && name !== 'RangeVar' ? { RangeVar: below } : below, isLeaf, nodes);
  }
}

/** Returns all nodes of a kind below a value. */
export function allOf(value: unknown, kind: string, isLeaf?: (node: Node) => boolean): Tree[] {
  return nodesIn(value, isLeaf)
    .filter((node) => node.kind === kind)
    .map(({ tree }) => tree);
}

/** Whether a node is a query inside an expression; its select is not part of the expression for Citus. */
export const isSubselect = ({ kind }: Node): boolean => kind === 'SubLink';

/** Whether a node begins another query than the one around it. */
export const isQuery = ({ kind }: Node): boolean => ['SelectStmt', 'InsertStmt', 'UpdateStmt', 'DeleteStmt'].includes(kind);

/** Returns the name of a called function, without its schema. */
export function functionName({ funcname }: Tree): string {
  return treeOf((funcname as readonly unknown[]).at(-1), 'String')?.sval as string;
}

/** Returns the schema of each table below a value, once for each time that it is named. Catalogues, and names of a WITH, have no schema. */
export function schemasIn(value: unknown, isLeaf?: (node: Node) => boolean): string[] {
  const named = allOf(value, 'RangeVar', isLeaf).map(({ schemaname }) => schemaname as string | undefined);
  return named.filter((schema) => schema !== undefined && !['pg_catalog', 'information_schema'].includes(schema)) as string[];
}
