/**
 * Runs many services under test in one process: a process of its own costs a service ten times as much.
 * POST / with the settings starts a service and answers its address. DELETE /PORT stops one, DELETE / all.
 */
import { type App, createApp } from '../../../src/app.ts';
import { addFirstSystem } from '../../../src/cli/index.ts';
import { parseSettings } from '../../../src/config/config.ts';
import { functionEnvironment, mergeEnvironment } from '../../../src/config/env.ts';
import { tuneForRequests } from '../../../src/v8-tuning.ts';
import { serveOrders } from './serve.ts';

const running = new Map<string, App>();

/** Like the command `start` (src/run.ts), without what is the process's: signals, log lines of start and stop. @returns the address */
async function start(variables: Record<string, string>): Promise<string> {
  // The S3 client reads its keys from the environment of the process.
  for (const [name, value] of Object.entries(variables)) if (name.startsWith('AWS_')) process.env[name] = value;
  const env = functionEnvironment(variables, {});
  const { config, secrets } = parseSettings(mergeEnvironment(variables, {}), variables.DATA_DIR ?? '', env);
  const app = await createApp(config, secrets);
  try {
    const lines = { print: () => {}, stranger: () => {} };
    await addFirstSystem(app.administration, app.contextOf, secrets, config.dataDir, lines);
    const address = await app.listen();
    running.set(new URL(address).port, app);
    return address;
  } catch (error) {
    await app.close('fault');
    throw error;
  }
}

async function stop(port: string): Promise<void> {
  const app = running.get(port);
  running.delete(port);
  await app?.close('signal');
}

tuneForRequests();
serveOrders(async (method, port, body) => {
  if (method === 'POST') return start(JSON.parse(body));
  await Promise.all((port === '' ? [...running.keys()] : [port]).map(stop));
  return '';
});
