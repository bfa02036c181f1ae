/** Rules for what UPDATE and DELETE compute (Citus: TargetlistAndFunctionsSupported, ModifyQuerySupported in multi_router_planner.c). */
import type { Rule } from './rule.ts';
import { allOf, isSubselect, nodesIn, type Tree } from './tree.ts';
import { argsOf, hasMutable, isMutable, isVolatile } from './volatility.ts';

const changes = (statement: Tree): Tree[] => [...allOf(statement, 'UpdateStmt'), ...allOf(statement, 'DeleteStmt')];
const modifications = (statement: Tree): Tree[] => [...changes(statement), ...allOf(statement, 'InsertStmt')];

/** What an UPDATE or DELETE computes: what it sets, and its condition. */
const computed = (change: Tree): unknown[] => [change.targetList, change.whereClause];

/** Whether an expression calls a function that is not immutable, with a column or inside CASE or coalesce. */
function mixesColumns(expression: unknown): boolean {
  return nodesIn(expression, isSubselect).some((node) => {
    if (['CaseExpr', 'CoalesceExpr'].includes(node.kind)) return hasMutable(node.tree, isSubselect);
    return isMutable(node) && allOf(argsOf(node.tree), 'ColumnRef', isSubselect).length > 0;
  });
}

/** Whether a column is read that is the place of a row in its table. */
const readsPlace = (value: unknown): boolean =>
  allOf(value, 'ColumnRef').some(
    ({ fields }) => JSON.stringify((fields as readonly unknown[]).at(-1)) === '{"String":{"sval":"ctid"}}',
  );

export const modificationRules: readonly Rule[] = [
  {
    name: 'function in RETURNING that is not immutable',
    citus: '0A000 non-IMMUTABLE functions are not allowed in the RETURNING clause',
    instead: 'return the columns, and compute in a final SELECT after WITH, or in what reads the rows',
    isBroken: (statement) => modifications(statement).some(({ returningClause }) => hasMutable(returningClause, isSubselect)),
  },
  {
    name: 'volatile function in UPDATE or DELETE',
    citus:
      '0A000 functions used in UPDATE queries on distributed tables must not be VOLATILE, or … in the WHERE/ON/WHEN clause …',
    instead: 'statement_timestamp() for the clock, which the coordinator evaluates; otherwise bind the value',
    isBroken: (statement) => changes(statement).some((change) => nodesIn(computed(change), isSubselect).some(isVolatile)),
  },
  {
    name: 'stable function of a column, or in CASE or coalesce, in UPDATE or DELETE',
    citus:
      '0A000 STABLE functions used in UPDATE queries cannot be called with column references; non-IMMUTABLE functions … in CASE or COALESCE',
    instead: 'an immutable function or a cast; or the expression in a subselect, which Citus does not examine',
    isBroken: (statement) => changes(statement).some((change) => mixesColumns(computed(change))),
  },
  {
    name: 'ctid in a statement that modifies',
    citus:
      '0A000 Recursively planned distributed modifications with ctid on where clause are not supported (if it also has an INSERT)',
    instead: 'ctid::text, or xmin::text; the key of the row',
    isBroken: (statement) =>
      modifications(statement).length > 0 && readsPlace(statement) && readsPlace(withoutTextOfPlace(statement)),
  },
  {
    name: 'WHERE CURRENT OF',
    citus: '0A000 cannot run DML queries with cursors',
    instead: 'the key of the row',
    isBroken: (statement) => nodesIn(statement).some(({ kind }) => kind === 'CurrentOfExpr'),
  },
  {
    name: 'MERGE',
    citus: 'XX000 To MERGE into a distributed table, source must be Citus table(s)',
    instead: 'INSERT … ON CONFLICT, UPDATE, DELETE',
    isBroken: (statement) => nodesIn(statement).some(({ kind }) => kind === 'MergeStmt'),
  },
];

/** Returns a copy in which `ctid::text` is missing: a text is not the place of a row for Citus. */
function withoutTextOfPlace(statement: Tree): unknown {
  return JSON.parse(JSON.stringify(statement), (name, value) =>
    name === 'TypeCast' && readsPlace(value.arg) && JSON.stringify(value.typeName).includes('"sval":"text"') ? {} : value,
  );
}
