import type { JsonObject, JsonValue } from '../../kernel/json.ts';

/** SPEC "Trigger-silencing flags". */
export interface SilencingFlags {
  /** `dontRunPlatformTriggers`: no data-change trigger runs. */
  readonly triggers: boolean;
  /** `dontUpdatePlatformTimeline`: no `_Timeline` rows. */
  readonly timeline: boolean;
  /** `dontRunPlatformTriggersCreate`: create-object actions are skipped. */
  readonly createActions: boolean;
  /** `dontRunPlatformTriggersUpdate`: update-object actions are skipped. */
  readonly updateActions: boolean;
}

const flagNames = {
  dontRunPlatformTriggers: 'triggers',
  dontUpdatePlatformTimeline: 'timeline',
  dontRunPlatformTriggersCreate: 'createActions',
  dontRunPlatformTriggersUpdate: 'updateActions',
} as const;

/** Whether a key of a body is a flag, never a field. */
export function isSilencingFlag(key: string): boolean {
  return Object.hasOwn(flagNames, key);
}

const none: SilencingFlags = { triggers: false, timeline: false, createActions: false, updateActions: false };

/**
 * Takes the silencing flags out of a body: they are consumed whoever sends them, and count under a key only.
 * @param honoured whether the caller's flags count
 */
export function takeFlags(body: JsonObject, honoured: boolean): { fields: JsonObject; flags: SilencingFlags } {
  if (!Object.keys(flagNames).some((name) => Object.hasOwn(body, name))) return { fields: body, flags: none };
  const flags = { ...none };
  const kept: [string, JsonValue][] = [];
  for (const [name, value] of Object.entries(body)) {
    if (!isSilencingFlag(name)) kept.push([name, value]);
    else if (honoured && value === true) flags[flagNames[name as keyof typeof flagNames]] = true;
  }
  return { fields: Object.fromEntries(kept), flags };
}
