/** Rules for INSERT (Citus: insert_select_planner.c, multi_router_planner.c). */
import { REGISTRY, type Rule } from './rule.ts';
import { allOf, isQuery, isSubselect, nodeOf, nodesIn, schemasIn, type Tree, treeOf } from './tree.ts';
import { hasMutable } from './volatility.ts';

/** The select of an INSERT … SELECT; `undefined` for VALUES. */
function selectOf({ selectStmt }: Tree): Tree | undefined {
  const select = treeOf(selectStmt, 'SelectStmt');
  return select && !('valuesLists' in select) ? select : undefined;
}

/** The select itself, or each part of a UNION. */
function partsOf(select: Tree): Tree[] {
  const sides = [select.larg, select.rarg].filter((side) => side !== undefined) as Tree[];
  return sides.length > 0 ? sides.flatMap(partsOf) : [select];
}

const inserts = (statement: Tree): Tree[] => allOf(statement, 'InsertStmt');

/** The select of an INSERT … SELECT; the parts of a UNION. */
function selectsOf(insert: Tree): Tree[] {
  const select = selectOf(insert);
  return select ? partsOf(select) : [];
}

const insertingSelects = (statement: Tree): Tree[] => inserts(statement).flatMap(selectsOf);

/** Whether an INSERT is into a table of records: those of the engine have no identity column. */
function hasIdentity({ relation }: Tree): boolean {
  const { schemaname, relname } = relation as Tree;
  return schemaname !== REGISTRY && !/^rds_/.test(relname as string);
}

/** Returns the names of a statement's WITH queries that name a table. */
function namesWithTable(statement: Tree): Set<unknown> {
  const queries = allOf(statement, 'CommonTableExpr');
  return new Set(queries.filter(({ ctequery }) => schemasIn(ctequery).length > 0).map(({ ctename }) => ctename));
}

export const insertRules: readonly Rule[] = [
  {
    name: 'lock in INSERT … SELECT',
    citus: '0A000 could not run distributed query with FOR UPDATE/SHARE commands',
    instead: 'lock in a statement before it, or in a WITH … AS MATERIALIZED that the INSERT reads',
    isBroken: (statement) =>
      inserts(statement).some((insert) => {
        const select = selectOf(insert);
        return select !== undefined && [select, ...partsOf(select)].some((part) => 'lockingClause' in part);
      }),
  },
  {
    name: 'two tables in INSERT … SELECT',
    citus:
      '0A000 … Cartesian products are currently unsupported, or XX000 the query contains a join that requires repartitioning',
    instead: 'read both in a WITH query that the INSERT reads',
    isBroken: (statement) =>
      insertingSelects(statement).some((select) => {
        const lateral = allOf(select.fromClause, 'RangeSubselect', isSubselect).filter((one) => one.lateral);
        return schemasIn(select).length > 1 || lateral.some((one) => schemasIn(one).length > 0);
      }),
  },
  {
    name: 'INSERT … SELECT that reads a table only in a subselect',
    citus: 'runs on the worker as a whole, in silence: "_seq" is drawn from the range of the worker, 2^48 and up',
    instead: 'read the table in FROM, or in a WITH query that FROM reads',
    isBroken(statement) {
      const withTable = namesWithTable(statement);
      return inserts(statement)
        .filter(hasIdentity)
        .flatMap(selectsOf)
        .some((select) => {
          const read = allOf(select.fromClause, 'RangeVar', isSubselect);
          if (schemasIn(select.fromClause, isSubselect).length > 0 || read.some(({ relname }) => withTable.has(relname)))
            return false;
          return allOf(select, 'SubLink').some(({ subselect }) => schemasIn(subselect).length > 0);
        });
    },
  },
  {
    name: 'subselect in VALUES, ON CONFLICT or RETURNING of INSERT',
    citus:
      '0A000 subqueries are not supported within INSERT queries; XX000 cannot execute a distributed query from a query on a shard',
    instead:
      'INSERT … SELECT from a WITH query; a check goes into a final SELECT after WITH … AS (INSERT …), or into a statement of its own',
    isBroken: (statement) =>
      inserts(statement).some((insert) => {
        const { valuesLists } = treeOf(insert.selectStmt, 'SelectStmt') ?? {};
        return [valuesLists, insert.onConflictClause, insert.returningClause].some((part) => nodesIn(part).some(isSubselect));
      }),
  },
  {
    name: 'parameter in RETURNING or ON CONFLICT of INSERT … SELECT',
    citus: '42P18 could not determine data type of parameter $1',
    instead: 'select the value as a column, and read it as "excluded", or in a final SELECT after WITH … AS (INSERT …)',
    isBroken: (statement) =>
      inserts(statement).some(
        (insert) =>
          selectOf(insert) !== undefined && allOf([insert.returningClause, insert.onConflictClause], 'ParamRef').length > 0,
      ),
  },
  {
    name: 'function in ON CONFLICT that is not immutable',
    citus: '0A000 functions used in the DO UPDATE SET clause of INSERTs on distributed tables must be marked IMMUTABLE',
    instead: 'compute the value in VALUES or SELECT, and read it as "excluded"',
    isBroken: (statement) => inserts(statement).some(({ onConflictClause }) => hasMutable(onConflictClause)),
  },
  {
    name: 'recursive WITH over a table, beside INSERT … SELECT',
    citus: 'XX000 could not find path for CTE',
    instead: 'read in a statement before it, and bind what was read',
    isBroken: (statement) =>
      insertingSelects(statement).length > 0 &&
      nodesIn(statement).some(({ tree }) => {
        const clause = tree.withClause as Tree | undefined;
        return clause?.recursive === true && recursiveOver(clause);
      }),
  },
];

/** Returns whether a query of a WITH reads itself and a table. */
function recursiveOver({ ctes }: Tree): boolean {
  return (ctes as readonly unknown[]).some((value) => {
    const { ctename, ctequery } = nodeOf(value)?.tree ?? {};
    const readsItself = allOf(ctequery, 'RangeVar').some(
      ({ relname, schemaname }) => relname === ctename && schemaname === undefined,
    );
    return readsItself && schemasIn(ctequery).length > 0 && nodesIn(ctequery).some(isQuery);
  });
}
