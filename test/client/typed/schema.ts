/** Types of three tables, in the form that `record-service types` writes. */
export type Pointer<Table extends string = string> = { __type: 'Pointer'; className: Table; objectId: string };
export type DateValue = { __type: 'Date'; iso: string };

interface SystemFields {
  objectId: string;
  createdAt: string;
  updatedAt: string;
  ACL: Record<string, { read?: boolean; write?: boolean }>;
  createdBy: Pointer<'_User'>;
  updatedBy: Pointer<'_User'>;
}

type Condition<V> = V | null | { $eq?: V; $ne?: V; $gt?: V; $gte?: V; $in?: readonly V[]; $exists?: boolean; $regex?: string };
type Change<V> = V | null | { __op: 'Delete' };

interface Logical<Where> {
  $or?: readonly Where[];
  $and?: readonly Where[];
}

export interface AccountsRecord extends SystemFields {
  Name?: string;
  City?: string;
  Total?: number;
  Birthday?: DateValue;
  OwnerId?: Pointer<'_User'>;
  array_tags_Pointer_Tags?: Pointer<'Odd name'>[];
}
export interface AccountsCreate {
  Name: string;
  City?: string | null;
  Total?: number | null;
  Birthday?: DateValue | null;
  OwnerId?: Pointer<'_User'> | null;
  array_tags_Pointer_Tags?: readonly Pointer<'Odd name'>[] | null;
}
export interface AccountsUpdate {
  Name?: string;
  City?: Change<string>;
  Total?: Change<number> | { __op: 'Increment'; amount: number };
  Birthday?: Change<DateValue>;
  OwnerId?: Change<Pointer<'_User'>>;
}
export interface AccountsWhere extends Logical<AccountsWhere> {
  objectId?: Condition<string>;
  Name?: Condition<string>;
  City?: Condition<string>;
  Total?: Condition<number>;
  Birthday?: Condition<DateValue>;
  OwnerId?: Condition<Pointer<'_User'>>;
}

export interface TasksRecord extends SystemFields {
  Name?: string;
  Done?: boolean;
  AccountId?: Pointer<'Accounts'>;
}
export interface TasksCreate {
  Name?: string;
  Done?: boolean;
  AccountId?: Pointer<'Accounts'>;
}
export interface TasksUpdate {
  Name?: Change<string>;
  Done?: Change<boolean>;
}
export interface TasksWhere extends Logical<TasksWhere> {
  Name?: Condition<string>;
  Done?: Condition<boolean>;
  AccountId?: Condition<Pointer<'Accounts'>>;
}

export interface UserRecord extends SystemFields {
  username: string;
  name?: string;
}

export interface Schema {
  Accounts: { record: AccountsRecord; create: AccountsCreate; update: AccountsUpdate; where: AccountsWhere };
  Tasks: { record: TasksRecord; create: TasksCreate; update: TasksUpdate; where: TasksWhere };
  batch: { record: TasksRecord; create: TasksCreate; update: TasksUpdate; where: TasksWhere };
  'Odd name': { record: TasksRecord; create: TasksCreate; update: TasksUpdate; where: TasksWhere };
  _User: {
    record: UserRecord;
    create: { username: string; password: string; name?: string };
    update: { name?: string; password?: string };
    where: { username?: Condition<string> };
  };
}
