import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { anonymous } from '../../../access/index.ts';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import type { Logger } from '../../../observe/index.ts';
import { noFiles } from '../../../records/testing/context.ts';
import type { Engine } from '../../../storage/engine.ts';
import { openAnyway } from '../../../storage/testing/open.ts';
import { provision } from '../../../systems/provision.ts';
import { userTableRules } from '../../../users/index.ts';
import { CustomFunctions } from '../index.ts';

/** A system on an engine whose custom functions are files of a directory. */
export async function operatedSystem(engine: Engine, directory: string, log: Logger) {
  const store = await openAnyway(engine, 'app');
  await provision(store);
  const system = { appId: 'app', name: 'The system', store };
  const functionsWithin = (timeLimit: number) =>
    new CustomFunctions({
      directory,
      timeLimit,
      hooks: { observers: [], rules: userTableRules, files: noFiles },
      log,
      isReserved: () => false,
      memoryMb: 512,
      env: {},
    });
  const patient = functionsWithin(60_000);
  let count = 0;
  /** Runs the body of a new function, which has `system`, `input`, `signal`, and the rest of the context. */
  async function run(body: string, input: JsonObject = {}, functions = patient): Promise<JsonValue> {
    const name = `function${count++}`;
    writeFileSync(join(directory, `${name}.mjs`), `export default async ({ system, input, signal, ...more }) => { ${body} }`);
    const loaded = await functions.find(name, 'app');
    if (!loaded) throw new Error(`${name} is not found`);
    const text = await functions.run(system, loaded, {
      input,
      isForm: false,
      request: null,
      record: null,
      trigger: null,
      user: null,
      attacher: anonymous,
    });
    return JSON.parse(text);
  }
  return { store, functionsWithin, run };
}
