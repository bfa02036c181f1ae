import type { JsonObject, JsonValue } from '../../kernel/json.ts';

/** Events that fire triggers (triggers.md#events). */
export const triggerEvents = ['create', 'update', 'delete', 'schedule'] as const;
export type TriggerEvent = (typeof triggerEvents)[number];

/** When a scheduled trigger runs. */
export interface Schedule {
  /** 5 fields, or 6 with seconds. */
  readonly cron: string;
  /** A name of the IANA time zone database. */
  readonly timezone: string;
}

/** A text, or a value that contains texts, in which `{{Field}}` stands for a value of the record (templates/template.ts). */
export type Template = JsonValue;

/** Parameters of an action, by its type (triggers.md#actions). */
export interface ActionData {
  readonly 'create-object': { readonly table: string; readonly fields: Readonly<Record<string, Template>> };
  readonly 'update-object': {
    /** `self`, or a Pointer field of the record. */
    readonly target: string;
    readonly fields: Readonly<Record<string, Template>>;
  };
  readonly 'e-mail': {
    readonly to: string;
    readonly cc: string | null;
    readonly bcc: string | null;
    readonly subject: string;
    readonly html: string;
  };
  readonly notification: {
    /** A user's id, the name of a Pointer field of the record, or a template. */
    readonly user: string;
    /** Set if `user` was written as a Pointer: it is an id, or a template of one. */
    readonly isPointer?: true;
    readonly content: string;
    readonly icon: string | null;
  };
  readonly 'server-side-code': { readonly functionName: string; readonly useQueue: boolean };
}
export type ActionType = keyof ActionData;

export type Action = {
  readonly [Type in ActionType]: {
    /** 10 characters. */
    readonly id: string;
    readonly type: Type;
    readonly isActive: boolean;
    readonly data: ActionData[Type];
  };
}[ActionType];

export type ActionOf<Type extends ActionType> = Extract<Action, { type: Type }>;

/** A parsed definition of `_Trigger` (triggers.md#definition). */
export interface Trigger {
  readonly id: string;
  readonly name: string | null;
  /** The table of the records that fire it. */
  readonly table: string;
  readonly events: ReadonlySet<TriggerEvent>;
  /** A `where`; `null` matches every record. */
  readonly criteria: JsonObject | null;
  /** An update fires the trigger only if one of these fields has changed; empty: any update does. */
  readonly changedFields: readonly string[];
  readonly schedule: Schedule | null;
  /** In order of execution. */
  readonly actions: readonly Action[];
  readonly isActive: boolean;
  /** The user with whose rights it acts, i.e. who wrote it with a session; `null` for the master, i.e. if a key wrote it. */
  readonly author: string | null;
}

/** A record as a trigger processes it: after the write, or before a delete. */
export interface TriggeringRecord {
  readonly className: string;
  readonly objectId: string;
  /** In wire form, without secrets. Each reader gets its own copy. */
  readonly fields: JsonObject & { readonly objectId: string };
}
