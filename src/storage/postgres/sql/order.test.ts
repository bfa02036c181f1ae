import { after } from 'node:test';
import { testOrders } from '../../sql/testing/order-cases.ts';
import { PostgresTables } from '../testing/tables.ts';

const tables = await PostgresTables.create();
after(() => tables.close());
await testOrders(tables);
