import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ColumnState, FieldModel, SavedView, TableModel } from '../../../../src/console/protocol/protocol.ts';
import {
  arranged,
  canMove,
  columnsText,
  movedBefore,
  movedBy,
  parseColumns,
  usualColumns,
  withPin,
  withShown,
  withWidth,
} from '../columns/columns.ts';
import { orderText, parseOrder, toggled } from '../columns/order.ts';
import { addressOf, parseAddress } from './address.ts';
import { addressedView, isChanged, viewState } from './view-state.ts';

const field = (name: string): FieldModel => ({ name, type: 'String', isReadOnly: false, isIndexed: true });
const table: TableModel = {
  name: 'Accounts',
  isListed: true,
  may: { find: true, get: true, create: true, update: true, delete: true },
  keepsHistory: false,
  titleFields: ['Name'],
  fields: ['objectId', 'createdAt', 'updatedAt', 'ACL', 'City', 'Name', 'Sum', '_key'].map(field),
};
const names = (columns: readonly ColumnState[]) => columns.map((one) => one.field).join();

const column: fc.Arbitrary<ColumnState> = fc
  .record({
    field: fc.constantFrom('Name', 'City', 'Sum', 'createdAt'),
    width: fc.integer({ min: 64, max: 800 }),
    isPinned: fc.boolean(),
  })
  .chain((one) =>
    fc.boolean().map((isWide) => ({
      field: one.field,
      ...(isWide ? { width: one.width } : {}),
      ...(one.isPinned ? { isPinned: true } : {}),
    })),
  );
const columns = fc.uniqueArray(column, { selector: (one) => one.field, maxLength: 4 });

describe('columns', () => {
  it('begin with the name and leave out what is of the service', () => {
    assert.equal(names(usualColumns(table)), 'Name,City,Sum,createdAt,updatedAt');
    assert.equal(names(arranged(table, [{ field: 'Sum' }, { field: 'Gone' }, { field: 'Sum' }])), 'Name,Sum');
  });

  it('are read as they were written', () => {
    fc.assert(
      fc.property(columns, (some) => {
        assert.deepEqual(parseColumns(columnsText(some)), some);
        assert.deepEqual(arranged(table, arranged(table, some)), arranged(table, some));
      }),
    );
    assert.deepEqual(parseColumns('Name:9999,<b>,:3,City:1!'), [
      { field: 'Name', width: 800 },
      { field: 'City', width: 64, isPinned: true },
    ]);
  });

  it('move, widen, are pinned and hidden', () => {
    const some = arranged(table, [{ field: 'City' }, { field: 'Sum' }]);
    assert.equal(names(movedBy(some, 1, 1)), 'Name,Sum,City');
    assert.equal(names(movedBy(some, 1, -1)), 'Name,City,Sum');
    assert.equal(canMove(some, 2, 1), false);
    assert.equal(names(movedBefore(some, 'Sum', 'City')), 'Name,Sum,City');
    assert.equal(names(movedBefore(some, 'City', null)), 'Name,Sum,City');
    assert.equal(withWidth(some, 'Sum', 3)[2]?.width, 64);
    assert.equal(names(arranged(table, withPin(some, 'Sum', true))), 'Name,Sum,City');
    assert.equal(withPin(withPin(some, 'Sum', true), 'Sum', false)[2]?.isPinned, undefined);
    assert.equal(names(withShown(withShown(some, 'City', false), 'createdAt', true)), 'Name,Sum,createdAt');
  });
});

describe('an order', () => {
  it('is read as it was written', () => {
    assert.equal(orderText(parseOrder('-createdAt,Name, Name,-,')), '-createdAt,Name');
    assert.deepEqual(parseOrder(''), []);
  });

  it('goes from ascending to descending to none', () => {
    const steps = [1, 2, 3].reduce<string[]>(
      (orders) => [...orders, orderText(toggled(parseOrder(orders.at(-1) ?? ''), 'Name', false))],
      [],
    );
    assert.deepEqual(steps, ['Name', '-Name', '']);
    assert.equal(orderText(toggled(parseOrder('City'), 'Name', true)), 'City,Name');
    assert.equal(orderText(toggled(parseOrder('City,-Name'), 'Name', true)), 'City');
  });
});

describe('an address', () => {
  const saved: SavedView = {
    objectId: 'view000001',
    table: 'Accounts',
    isMine: true,
    name: 'Mine',
    where: { City: 'Haifa' },
    order: '-createdAt',
    columns: [{ field: 'Sum', width: 90 }],
    sharedWith: [],
  };

  it('says what a view shows, both ways', () => {
    const where = fc.dictionary(fc.constantFrom('Name', 'City'), fc.string(), { noNullPrototype: true });
    fc.assert(
      fc.property(where, fc.constantFrom('', 'Name', '-Sum,Name'), columns, fc.boolean(), (one, order, some, isSaved) => {
        const base = isSaved ? saved : null;
        const state = { where: one, order, columns: arranged(table, some) };
        const search = addressOf(addressedView(state, base, table), '?lang=he');
        assert.deepEqual(viewState(parseAddress(search), base, table), state);
        assert.equal(new URLSearchParams(search).get('lang'), 'he');
      }),
    );
  });

  it('of a saved view alone says nothing else', () => {
    const state = viewState(parseAddress('?view=view000001'), saved, table);
    assert.deepEqual(state.where, { City: 'Haifa' });
    assert.equal(addressOf(addressedView(state, saved, table)), '?view=view000001');
    assert.equal(isChanged(addressedView(state, saved, table)), false);
    assert.equal(isChanged(addressedView({ ...state, order: '' }, saved, table)), true);
  });

  it('with a where that is none says so', () => {
    assert.equal(parseAddress('?where={').isWhereBroken, true);
    assert.equal(parseAddress('?where=[]').isWhereBroken, true);
    assert.equal(parseAddress('?where=').isWhereBroken, false);
  });
});
