import { after } from 'node:test';
import { testAggregateEdges } from '../../sql/testing/aggregate-edges.ts';
import { testRandomAggregates } from '../../sql/testing/aggregate-oracle.ts';
import { SalesTable } from '../../sql/testing/sales.ts';
import { PostgresTables } from '../testing/tables.ts';
import { postgresAggregate } from './aggregate.ts';

const tables = await PostgresTables.create();
after(() => tables.close());
const sales = await SalesTable.make(tables, postgresAggregate(tables.dialect), []);
testAggregateEdges(sales);
testRandomAggregates(sales, 50);
