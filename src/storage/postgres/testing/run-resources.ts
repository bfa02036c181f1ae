/** What the test files of a run share, such as a PostgreSQL server: started by the runner's process when the first test needs it. */

/** Address of the server that hands the resources out (test/support/run.ts). Not set: the test file runs without the runner. */
export const RESOURCES_VARIABLE = 'TEST_RESOURCES_URL';

const known = new Map<string, Promise<string>>();

/**
 * Returns a resource of the run, as text, such as the URL of a server.
 * @param name as in test/support/run.ts
 * @returns undefined without the runner: the test file has to make one of its own
 * @throws Error if the resource could not be started
 */
export function runResource(name: string): Promise<string> | undefined {
  // biome-ignore lint/style/noProcessEnv: this is how the runner tells its test files where the resources are
  const url = process.env[RESOURCES_VARIABLE];
  if (!url) return undefined;
  const resource = known.get(name) ?? request(`${url}/${name}`);
  known.set(name, resource);
  return resource;
}

async function request(url: string): Promise<string> {
  const response = await fetch(url, { headers: { Connection: 'close' } });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}
