import type { JsonObject, JsonValue } from '../../kernel/json.ts';

/** What fires triggers (SPEC "Events"; CONTRACT "Triggers"). */
export const triggerEvents = ['create', 'update', 'delete', 'schedule'] as const;
export type TriggerEvent = (typeof triggerEvents)[number];

/** When a trigger runs by the clock. */
export interface Schedule {
  /** 5 fields, or 6 with seconds. */
  readonly cron: string;
  /** A name of the IANA time zone database. */
  readonly timezone: string;
}

/** A text, or a value with texts inside, in which `{{Field}}` stands for a value of the record (templates/template.ts). */
export type Template = JsonValue;

/** What an action does, by its type (CONTRACT "Triggers"). */
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
    /** A user's id, a Pointer field of the record, or a template. */
    readonly user: string;
    /** `user` was written as a Pointer: it is an id, or a template of one. */
    readonly isPointer?: true;
    readonly content: string;
    readonly icon: string | null;
  };
  readonly 'server-side-code': { readonly functionName: string; readonly useQueue: boolean };
}
export type ActionType = keyof ActionData;

/** A step of a trigger. */
export type Action = {
  readonly [Type in ActionType]: {
    /** 10 characters. */
    readonly id: string;
    readonly type: Type;
    readonly isActive: boolean;
    readonly data: ActionData[Type];
  };
}[ActionType];

/** An action of a type. */
export type ActionOf<Type extends ActionType> = Extract<Action, { type: Type }>;

/** A definition as it is in `_Trigger` (CONTRACT "Triggers"). */
export interface Trigger {
  readonly id: string;
  readonly name: string | null;
  /** Of the records that fire it. */
  readonly table: string;
  readonly events: ReadonlySet<TriggerEvent>;
  /** A `where`; `null`: every record. */
  readonly criteria: JsonObject | null;
  /** An update fires it where one of these has another value than before; empty: whatever has changed. */
  readonly changedFields: readonly string[];
  readonly schedule: Schedule | null;
  /** In the order in which they are done. */
  readonly actions: readonly Action[];
  readonly isActive: boolean;
  /** The user with whose rights it acts: who wrote it with a session. `null`: the master, by a key. */
  readonly author: string | null;
}

/** A record as a trigger meets it: as it was after the write, or before a delete. */
export interface TriggeringRecord {
  readonly className: string;
  readonly objectId: string;
  /** In wire form, without secrets. Each reader has a copy of its own. */
  readonly fields: JsonObject & { readonly objectId: string };
}
