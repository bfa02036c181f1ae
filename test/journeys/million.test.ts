/** Journey 4: a long table. Each row stands at its place in the order, once, up to the last. `bench/` measures a million rows. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Person, PersonOptions } from '../support/browser.ts';
import { crmOf } from '../support/client.ts';
import { GridView } from '../support/grid.ts';
import { engines, type Service, startService } from '../support/service.ts';
import { join, signUp, type User } from '../support/users.ts';
import { SignIns } from './sign-ins.ts';

/** Ten full blocks of rows and a part of one. */
const COUNT = 1_037;
const PER_BATCH = 1_000;
const MAX_ELEMENTS = 2_500;
/** Rows of a short walk, which crosses three borders of blocks. */
const SHORT = 320;
const cities = ['Haifa', 'אילת', 'Lod', 'עכו'];
/** A tall window makes walks short. */
const viewport = { width: 1280, height: 1400 };

for (const engine of engines)
  describe(`many records on ${engine}`, () => {
    let service: Service;
    let user: User;
    const signIns = new SignIns(() => service);

    before(async () => {
      service = await startService({ engine });
      user = await signUp(service, { name: 'Ana' });
      await join(service, 'Sales', [user]);
      for (let first = 0; first < COUNT; first += PER_BATCH) {
        const size = Math.min(PER_BATCH, COUNT - first);
        const made = await crmOf(service).batch(
          (items) => Array.from({ length: size }, (_, at) => items.table('Accounts').create(account(first + at))),
          { idempotencyKey: false },
        );
        assert.ok(made.every(({ error }) => !error));
      }
    });
    after(async () => {
      await signIns.close();
      await service.stop();
    });

    /** A third has no city, the others share four. */
    const account = (at: number) => ({ Name: `Account ${at}`, ...(at % 3 > 0 && { City: cities[at % 4] }) });
    const address = (query: Record<string, string> = {}) =>
      `/console/${service.appId}/Accounts?${new URLSearchParams(query).toString()}`;

    async function opened(options: PersonOptions, query?: Record<string, string>) {
      const person = await signIns.open(user, { viewport, ...options });
      await person.open(address(query));
      const grid = new GridView(person.page);
      await grid.settled();
      return { person, grid, page: person.page };
    }

    /** Returns the ids in the order of the API. */
    async function idsOf(order: string, where: object = {}): Promise<string[]> {
      const { results } = await crmOf(service)
        .table('Accounts')
        .find({ where: { ...where }, order, keys: ['Name'], limit: 100_000 });
      return results.map(({ objectId }) => objectId);
    }

    /** Presses a key until a row or the end is reached. @returns ids by row */
    async function walk({ page }: Person, grid: GridView, key: string, last: number): Promise<string[]> {
      const seen: string[] = [];
      for (let before = -1; ; ) {
        for (const { index, objectId } of await grid.settled()) {
          assert.ok(seen[index] === undefined || seen[index] === objectId, `row ${index} was another before`);
          seen[index] = objectId ?? '';
        }
        const at = await grid.focusedRow();
        if (at === before || (key === 'PageUp' ? at <= last : at >= last)) return seen;
        before = at;
        await page.keyboard.press(key);
      }
    }

    test('the count is exact; PgDn reaches each row once, in the order of the API, and PgUp leads back', async () => {
      const { person, grid, page } = await opened({});
      assert.equal(await grid.counted(), COUNT);
      await grid.enter();
      const ids = await idsOf('-createdAt,-objectId');
      assert.deepEqual(await walk(person, grid, 'PageDown', COUNT - 1), ids);
      assert.ok((await grid.elementCount()) < MAX_ELEMENTS);
      await page.keyboard.press('Control+Home');
      await grid.settled();
      await page.keyboard.press('Control+End');
      assert.deepEqual((await grid.settled()).at(-1), { index: COUNT - 1, objectId: ids.at(-1) });
      assert.equal(await grid.focusedRow(), COUNT - 1);
      assertThere(await walk(person, grid, 'PageUp', COUNT - 1 - SHORT), ids);
      person.assertClean();
    });

    // Languages and engines are independent.
    for (const language of engines.length === 1 ? (['en', 'he'] as const) : ([engine === 'sqlite' ? 'he' : 'en'] as const))
      test(`the scroll bar leads to the end, the middle and the beginning: ${language}`, async () => {
        const { person, grid } = await opened({ language });
        await grid.counted();
        const ids = await idsOf('-createdAt,-objectId');
        for (const part of [1, 0.5, 0.25, 0.75, 0]) await drawTo(grid, part, ids);
        person.assertClean();
      });

    test('a sort has the order of the API up to its last row, absent values too, from right to left as well', async () => {
      const { person, grid, page } = await opened({ language: 'he' });
      await grid.counted();
      await page.getByRole('columnheader', { name: 'עיר', exact: true }).click();
      await page.waitForURL((url) => url.searchParams.get('order') === 'City');
      const ids = await idsOf('City,objectId');
      await grid.settled();
      await grid.counted();
      await grid.enter();
      assertThere(await walk(person, grid, 'PageDown', SHORT), ids);
      // The border of absent values, and the end.
      for (const part of [1 / 3, 1]) await drawTo(grid, part, ids);
      await page.keyboard.press('Control+Home');
      await grid.settled();
      const cell = `Number(document.activeElement.getAttribute('aria-colindex'))`;
      const before = await page.evaluate(cell);
      await page.keyboard.press('ArrowLeft');
      assert.equal(await page.evaluate(cell), Number(before) + 1, 'the next column stands to the left');
      person.assertClean();
    });

    test('a filter of the address: as many rows as the API counts, and just those', async () => {
      const where = { City: 'אילת' };
      const { person, grid, page } = await opened({}, { where: JSON.stringify(where), order: '-Name' });
      const ids = await idsOf('-Name,-objectId', where);
      assert.equal(await grid.counted(), ids.length);
      await grid.enter();
      await page.keyboard.press('Control+End');
      const rows = await grid.settled();
      assert.equal(rows.at(-1)?.index, ids.length - 1);
      for (const { index, objectId } of rows) assert.equal(objectId, ids[index]);
      person.assertClean();
    });
  });

/** Moves the scroll bar to a fraction of its length and compares the visible rows. */
async function drawTo(grid: GridView, part: number, ids: readonly string[]): Promise<void> {
  await grid.scrollTo(part);
  await grid.near(COUNT * part, 40);
  const rows = await grid.settled();
  for (const { index, objectId } of rows) assert.equal(objectId, ids[index], `row ${index}`);
  await grid.assertGapless();
  assert.ok((await grid.elementCount()) < MAX_ELEMENTS);
}

/** Asserts that rows stand at their places in the order of the API. @param seen ids by row, with holes */
function assertThere(seen: readonly (string | undefined)[], ids: readonly string[]): void {
  for (const [index, objectId] of seen.entries()) if (objectId !== undefined) assert.equal(objectId, ids[index], `row ${index}`);
}
