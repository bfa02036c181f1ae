/** The service inside the test's own process: for suites that test what it answers, not how its process behaves. */
import { createApp } from '../../src/app.ts';
import { addFirstSystem } from '../../src/cli/index.ts';
import { parseSettings } from '../../src/config/config.ts';
import { mergeEnvironment } from '../../src/config/env.ts';

/** A running application. */
export interface InProcess {
  readonly url: string;
  /** Ends it as SIGTERM would. */
  stop(): Promise<void>;
}

/**
 * Starts the application with these settings; the variables of the process are not read.
 * @param env settings by name
 * @param directory what relative paths start from
 */
export async function startInProcess(env: Record<string, string>, directory: string): Promise<InProcess> {
  const { config, secrets } = parseSettings(mergeEnvironment(env, {}), directory);
  const app = await createApp(config, secrets, (error) => {
    // Not of one test: the run fails.
    queueMicrotask(() => {
      throw error;
    });
  });
  await addFirstSystem(app.administration, app.contextOf, secrets, config.dataDir, { print: () => {}, stranger: () => {} });
  const url = await app.listen();
  return { url, stop: () => app.close('told') };
}
