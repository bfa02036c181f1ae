import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { RowsAnswer } from '../../../../src/console/protocol/protocol.ts';
import { BLOCK_ROWS, type BlockRequest } from './blocks.ts';
import { type RowReader, RowSource } from './row-source.ts';

/** A table of `count` rows whose cursors are row numbers. */
class Table implements RowReader {
  readonly requests: string[] = [];
  readonly ended: string[] = [];
  readonly deleted = new Set<string>();
  failure: Error | null = null;
  suffix = '';
  #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  async block(request: BlockRequest, signal: AbortSignal): Promise<RowsAnswer> {
    const text = request.kind === 'skip' ? `skip ${request.skip}` : `${request.kind} ${request.cursor}`;
    this.requests.push(text);
    const { suffix } = this;
    await delay(2);
    if (signal.aborted) this.ended.push(text);
    signal.throwIfAborted();
    if (this.failure) throw this.failure;
    const start =
      request.kind === 'skip'
        ? request.skip
        : request.kind === 'after'
          ? Number(request.cursor) + 1
          : Number(request.cursor) - BLOCK_ROWS;
    const numbers = Array.from({ length: BLOCK_ROWS }, (_, at) => start + at).filter((at) => at >= 0 && at < this.#count);
    return this.#answer(numbers, suffix);
  }

  async byIds(objectIds: readonly string[]): Promise<RowsAnswer> {
    this.requests.push(`ids ${objectIds.length}`);
    return this.#answer(objectIds.filter((id) => !this.deleted.has(id)).map((id) => Number(id.slice(1))));
  }

  #answer(numbers: readonly number[], suffix = this.suffix): RowsAnswer {
    const rows = numbers.map((number) => ({ objectId: `r${number}`, Name: `${number}${suffix}` }));
    return { rows, names: {}, first: String(numbers[0] ?? ''), last: String(numbers.at(-1) ?? '') };
  }
}

/** Waits until no request is pending. */
async function still(source: RowSource): Promise<void> {
  do await delay(8);
  while (source.pendingCount > 0);
}

const nameAt = (source: RowSource, row: number) => source.row(row)?.record.Name;

describe('the rows of a grid', () => {
  it('come by key beside others, by place after a jump', async () => {
    const table = new Table(1_000_000);
    const source = new RowSource(table, 1);
    source.want(0, 40, 1_000_000, 0);
    await still(source);
    assert.deepEqual(table.requests, ['skip 0', 'after 99', 'after 199']);
    source.want(900_020, 900_060, 1_000_000, 0);
    await still(source);
    assert.deepEqual(table.requests.slice(3), ['skip 900000', 'after 900099', 'after 900199']);
    assert.equal(nameAt(source, 900_033), '900033');
    source.want(899_980, 900_020, 1_000_000, -1);
    await still(source);
    assert.deepEqual(table.requests.slice(6, 8), ['before 900000', 'before 899900']);
    assert.equal(nameAt(source, 899_999), '899999');
  });

  it('are not asked for where the scroll bar only passes', async () => {
    const table = new Table(1_000_000);
    const source = new RowSource(table, 5);
    source.want(0, 40, 1_000_000, 0);
    await still(source);
    for (const row of [100_000, 200_000, 300_000]) source.want(row, row + 40, 1_000_000, 1);
    await still(source);
    assert.ok(!table.requests.includes('skip 100000') && !table.requests.includes('skip 200000'));
    assert.ok(table.requests.includes('skip 300000'));
  });

  it('are given up when they are scrolled past', async () => {
    const table = new Table(1_000_000);
    const source = new RowSource(table, 0);
    source.want(0, 40, 1_000_000, 0);
    source.want(500_000, 500_040, 1_000_000, 0);
    await still(source);
    assert.deepEqual(table.ended, ['skip 0']);
    assert.equal(source.failure, null);
    assert.equal(nameAt(source, 500_000), '500000');
    assert.equal(nameAt(source, 0), undefined);
  });

  it('end where a block is not full', async () => {
    const table = new Table(130);
    const source = new RowSource(table, 0);
    source.want(0, 130, 1_000, 0);
    await still(source);
    assert.equal(source.end, 130);
    assert.equal(nameAt(source, 129), '129');
    assert.ok(!table.requests.some((one) => one.includes('skip 2')));
  });

  it('change in place, and stay where they were', async () => {
    const table = new Table(300);
    const source = new RowSource(table, 0);
    source.want(0, 40, 300, 0);
    await still(source);
    table.suffix = ' changed';
    table.deleted.add('r7');
    await source.refresh();
    assert.equal(nameAt(source, 6), '6 changed');
    assert.equal(nameAt(source, 7), '7');
    assert.ok(source.isGone('r7') && !source.isGone('r6'));
    source.patch('r6', { Name: 'mine' }, { T: { a: 'A' } });
    assert.equal(nameAt(source, 6), 'mine');
    assert.equal(source.row(0)?.names.T?.a, 'A');
  });

  it('that were read before a change and come after word of it are read again', async () => {
    const table = new Table(300);
    const source = new RowSource(table, 0);
    source.want(0, 40, 300, 0);
    table.suffix = ' changed';
    await source.refresh();
    assert.equal(nameAt(source, 6), '6 changed');
  });

  it('are asked for again after a failure or a stop, not before', async () => {
    const table = new Table(1_000);
    const source = new RowSource(table, 0);
    table.failure = new Error('down');
    source.want(0, 40, 1_000, 0);
    await still(source);
    assert.equal(source.failure, table.failure);
    source.want(0, 50, 1_000, 0);
    await still(source);
    assert.equal(table.requests.length, 1);
    table.failure = null;
    source.retry();
    source.stop();
    await still(source);
    assert.ok(source.isStopped);
    assert.equal(nameAt(source, 0), undefined);
    source.retry();
    await still(source);
    assert.equal(source.failure, null);
    assert.equal(nameAt(source, 0), '0');
  });
});
