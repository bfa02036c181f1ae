/** Functions of the operator that triggers of the suites call. */

/** What a function was handed, a line each; `FILE` becomes a path. */
const noted = (then: string) => `
  import { appendFileSync, existsSync } from 'node:fs';
  export default async ({ input, system, request, record, user, trigger }) => {
    appendFileSync(FILE, JSON.stringify({ input, request, record, user, trigger }) + '\\n');
    ${then}
  };`;

const functions: Record<string, string> = {
  'notes.js': noted(''),
  'hold.js': noted(`while (existsSync(HELD)) await new Promise((done) => setTimeout(done, 10));`),
  'fails.js': noted(`throw new Error('The shop is closed: "' + (record.Name ?? '') + '"');`),
  'creates.js': noted(`await system.create(record.Target, { Target: record.Target });`),
  'waits.js': noted(`await new Promise((done) => setTimeout(done, 30 - 10 * (record.n % 4)));`),
  'mutates.js': noted(
    `record.Name = 'forged'; delete record.n; record.objectId = 'forged'; Object.assign(trigger, { id: 'forged' });`,
  ),
  'removes.js': noted(`await system.delete(record.Target, record.objectId);`),
  'acts.js': noted(`
    const { objectId } = await system.create(record.Target, { Name: 'made' });
    await system.update(record.Target, objectId, { Name: 'changed' });
    await system.delete(record.Target, objectId);`),
  'writes.js': `export default async ({ input, system }) => {
    if (input.all) return system.createAll(input.all.map((fields) => ({ table: input.table, fields })));
    const { objectId } = await system.create(input.table, { Name: 'made', ...input.more });
    await system.update(input.table, objectId, { Name: 'changed', ...input.more });
    await system.delete(input.table, objectId);
  };`,
};

/**
 * The files, by name.
 * @param called where each call is noted
 * @param held while this file is there, `hold` waits
 */
export const functionFiles = (called: string, held: string): [string, string][] =>
  Object.entries(functions).map(([name, text]) => [
    name,
    text.replace(/\bFILE\b/g, () => JSON.stringify(called)).replace(/\bHELD\b/g, () => JSON.stringify(held)),
  ]);
