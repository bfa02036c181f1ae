import { own } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { serviceVersion } from '../../../kernel/version.ts';
import { configFlag } from '../../../records/index.ts';
import { agentSwitches } from '../../../users/index.ts';
import { MOST_RECORDS, MOST_ROWS } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { RESULT_BYTES } from '../../kit/answers/page.ts';
import { unless } from '../../kit/answers/refusals.ts';
import { knownTables } from '../../kit/reading/tables.ts';
import { timeZoneOf } from '../../kit/time/time-zone.ts';

const LARGE = 'allowAllFiles';

/** SPEC "Limits", "Other constraints": of the storage the flag alone is shown. */
export const getSystemInfo = defineTool({
  name: 'Get-System-Info',
  group: 'system',
  description: 'System name, version, time zone, plan features, limits, class count and the outOfStorage flag.',
  input: {},
  needs: ['mcp:view'],
  effect: 'read',
  about: '_SCHEMA',
  async run(call) {
    const { system, context, services } = call;
    const { signIn, advancedTools } = await agentSwitches(context.store);
    const large = await configFlag(context.store, LARGE);
    const timeZone = await timeZoneOf(call);
    return {
      name: system.name,
      appId: system.appId,
      version: serviceVersion(),
      address: services.baseUrl(),
      timeZone,
      now: new Date().toISOString(),
      classCount: knownTables(call).length,
      outOfStorage: await unless(['outOfStorage'], true, () => services.files.admit(system).then(() => false)),
      features: { signIn, advancedTools, largeUploads: large !== null && own(large, LARGE) === true },
      limits: {
        rowsPerRead: MOST_ROWS,
        recordsPerWrite: MOST_RECORDS,
        answerBytes: RESULT_BYTES,
        uploadBytes: limits.fileBytes,
        triggerDepth: 3,
        objectIdLength: 10,
        usersListed: 100,
      },
      protocol: 'Model Context Protocol, revisions 2024-11-05 to 2026-07-28',
    };
  },
});
