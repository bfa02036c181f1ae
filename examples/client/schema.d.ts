// Types of the system APP_ID. Made by record-service types: do not edit.

/** A record of `Accounts`. */
export interface AccountsRecord extends SystemFields {
  /** כתובת */
  Address?: string;
  /** תאריך לידה */
  Birthday?: DateValue;
  /** עיר */
  City?: string;
  /** יישוב */
  CityId?: Pointer<'CityList'>;
  /** הערות */
  Comment?: string;
  /** ח״פ או ת״ז */
  CompanyId?: string;
  /** דוא״ל */
  Email?: string;
  /** מזהה במערכת חיצונית */
  ExternalId?: string;
  /** שם פרטי */
  F_name?: string;
  /** תחום עיסוק */
  IndustryId?: Pointer<'Industries'>;
  /** לקוח */
  IsAccount?: boolean;
  /** שם משפחה */
  L_name?: string;
  /** אחראי ליד */
  LeadOwnerId?: Pointer<'_User'>;
  /** מקור הגעה */
  LeadSourceId?: Pointer<'LeadSource'>;
  /** סטטוס ליד */
  LeadStatusId?: Pointer<'LeadStatuses'>;
  /** סיבת אי התאמה */
  LostReasonId?: Pointer<'LostReasons'>;
  /** שם */
  Name?: string;
  /** אחראי */
  OwnerId?: Pointer<'_User'>;
  /** טלפון */
  PhoneNumber?: string;
  /** סטטוס לקוח */
  StatusId?: Pointer<'AccountStatuses'>;
  /** הוסר מדיוור */
  Unsubscribed?: boolean;
  /** תחומי עניין */
  array_interests_Pointer_Interests?: Pointer<'Interests'>[];
  /** שפות */
  array_languages_Pointer_Languages?: Pointer<'Languages'>[];
  /** תגיות */
  array_tags_Pointer_Tags?: Pointer<'Tags'>[];
  /** התקבל מטופס באתר */
  fromWeb2lead?: boolean;
}
/** Creates a record of `Accounts`. */
export interface AccountsCreate extends WriteFlags {
  /** Counts under a key alone. */
  objectId?: string;
  ACL?: Acl;
  /** כתובת */
  Address?: string | null;
  /** תאריך לידה */
  Birthday?: DateValue | null;
  /** עיר */
  City?: string | null;
  /** יישוב */
  CityId?: Pointer<'CityList'> | null;
  /** הערות */
  Comment?: string | null;
  /** ח״פ או ת״ז */
  CompanyId?: string | null;
  /** דוא״ל */
  Email?: string | null;
  /** מזהה במערכת חיצונית */
  ExternalId?: string | null;
  /** שם פרטי */
  F_name?: string | null;
  /** תחום עיסוק */
  IndustryId?: Pointer<'Industries'> | null;
  /** לקוח */
  IsAccount?: boolean | null;
  /** שם משפחה */
  L_name?: string | null;
  /** אחראי ליד */
  LeadOwnerId?: Pointer<'_User'> | null;
  /** מקור הגעה */
  LeadSourceId?: Pointer<'LeadSource'> | null;
  /** סטטוס ליד */
  LeadStatusId?: Pointer<'LeadStatuses'> | null;
  /** סיבת אי התאמה */
  LostReasonId?: Pointer<'LostReasons'> | null;
  /** שם */
  Name?: string | null;
  /** אחראי */
  OwnerId?: Pointer<'_User'> | null;
  /** טלפון */
  PhoneNumber?: string | null;
  /** סטטוס לקוח */
  StatusId?: Pointer<'AccountStatuses'> | null;
  /** הוסר מדיוור */
  Unsubscribed?: boolean | null;
  /** תחומי עניין */
  array_interests_Pointer_Interests?: readonly Pointer<'Interests'>[] | null;
  /** שפות */
  array_languages_Pointer_Languages?: readonly Pointer<'Languages'>[] | null;
  /** תגיות */
  array_tags_Pointer_Tags?: readonly Pointer<'Tags'>[] | null;
  /** התקבל מטופס באתר */
  fromWeb2lead?: boolean | null;
}
/** Changes a record of `Accounts`. */
export interface AccountsUpdate extends WriteFlags {
  ACL?: Change<Acl>;
  /** כתובת */
  Address?: Change<string>;
  /** תאריך לידה */
  Birthday?: Change<DateValue>;
  /** עיר */
  City?: Change<string>;
  /** יישוב */
  CityId?: Change<Pointer<'CityList'>>;
  /** הערות */
  Comment?: Change<string>;
  /** ח״פ או ת״ז */
  CompanyId?: Change<string>;
  /** דוא״ל */
  Email?: Change<string>;
  /** מזהה במערכת חיצונית */
  ExternalId?: Change<string>;
  /** שם פרטי */
  F_name?: Change<string>;
  /** תחום עיסוק */
  IndustryId?: Change<Pointer<'Industries'>>;
  /** לקוח */
  IsAccount?: Change<boolean>;
  /** שם משפחה */
  L_name?: Change<string>;
  /** אחראי ליד */
  LeadOwnerId?: Change<Pointer<'_User'>>;
  /** מקור הגעה */
  LeadSourceId?: Change<Pointer<'LeadSource'>>;
  /** סטטוס ליד */
  LeadStatusId?: Change<Pointer<'LeadStatuses'>>;
  /** סיבת אי התאמה */
  LostReasonId?: Change<Pointer<'LostReasons'>>;
  /** שם */
  Name?: Change<string>;
  /** אחראי */
  OwnerId?: Change<Pointer<'_User'>>;
  /** טלפון */
  PhoneNumber?: Change<string>;
  /** סטטוס לקוח */
  StatusId?: Change<Pointer<'AccountStatuses'>>;
  /** הוסר מדיוור */
  Unsubscribed?: Change<boolean>;
  /** תחומי עניין */
  array_interests_Pointer_Interests?: ArrayChange<Pointer<'Interests'>>;
  /** שפות */
  array_languages_Pointer_Languages?: ArrayChange<Pointer<'Languages'>>;
  /** תגיות */
  array_tags_Pointer_Tags?: ArrayChange<Pointer<'Tags'>>;
  /** התקבל מטופס באתר */
  fromWeb2lead?: Change<boolean>;
  [place: `array_interests_Pointer_Interests.${string}`]: PlaceChange;
  [place: `array_languages_Pointer_Languages.${string}`]: PlaceChange;
  [place: `array_tags_Pointer_Tags.${string}`]: PlaceChange;
}
export interface AccountsConditions extends SystemConditions {
  /** כתובת */
  Address?: TextCondition;
  /** תאריך לידה */
  Birthday?: DateCondition;
  /** עיר */
  City?: TextCondition;
  /** יישוב */
  CityId?: PointerCondition<'CityList'>;
  /** הערות */
  Comment?: TextCondition;
  /** ח״פ או ת״ז */
  CompanyId?: TextCondition;
  /** דוא״ל */
  Email?: TextCondition;
  /** מזהה במערכת חיצונית */
  ExternalId?: TextCondition;
  /** שם פרטי */
  F_name?: TextCondition;
  /** תחום עיסוק */
  IndustryId?: PointerCondition<'Industries'>;
  /** לקוח */
  IsAccount?: BooleanCondition;
  /** שם משפחה */
  L_name?: TextCondition;
  /** אחראי ליד */
  LeadOwnerId?: PointerCondition<'_User'>;
  /** מקור הגעה */
  LeadSourceId?: PointerCondition<'LeadSource'>;
  /** סטטוס ליד */
  LeadStatusId?: PointerCondition<'LeadStatuses'>;
  /** סיבת אי התאמה */
  LostReasonId?: PointerCondition<'LostReasons'>;
  /** שם */
  Name?: TextCondition;
  /** אחראי */
  OwnerId?: PointerCondition<'_User'>;
  /** טלפון */
  PhoneNumber?: TextCondition;
  /** סטטוס לקוח */
  StatusId?: PointerCondition<'AccountStatuses'>;
  /** הוסר מדיוור */
  Unsubscribed?: BooleanCondition;
  /** תחומי עניין */
  array_interests_Pointer_Interests?: ArrayCondition<Pointer<'Interests'>>;
  /** שפות */
  array_languages_Pointer_Languages?: ArrayCondition<Pointer<'Languages'>>;
  /** תגיות */
  array_tags_Pointer_Tags?: ArrayCondition<Pointer<'Tags'>>;
  /** התקבל מטופס באתר */
  fromWeb2lead?: BooleanCondition;
}
/** Which records of `Accounts` to find. */
export interface AccountsWhere
  extends AccountsConditions,
    Logical<AccountsWhere> {
  [place: `array_interests_Pointer_Interests.${string}`]: PlaceCondition;
  [place: `array_languages_Pointer_Languages.${string}`]: PlaceCondition;
  [place: `array_tags_Pointer_Tags.${string}`]: PlaceCondition;
  [path: `CityId.${string}.${string}`]: unknown;
  [path: `IndustryId.${string}.${string}`]: unknown;
  [path: `LeadOwnerId.${string}.${string}`]: unknown;
  [path: `LeadSourceId.${string}.${string}`]: unknown;
  [path: `LeadStatusId.${string}.${string}`]: unknown;
  [path: `LostReasonId.${string}.${string}`]: unknown;
  [path: `OwnerId.${string}.${string}`]: unknown;
  [path: `StatusId.${string}.${string}`]: unknown;
  [path: `createdBy.${string}.${string}`]: unknown;
  [path: `updatedBy.${string}.${string}`]: unknown;
}

/** A record of `Tasks`. */
export interface TasksRecord extends SystemFields {
  /** לקוח */
  AccountId?: Pointer<'Accounts'>;
  /** פנייה */
  CaseId?: Pointer<'Cases'>;
  /** בוצעה בתאריך */
  CompletedAt?: DateValue;
  /** איש קשר */
  ContactId?: Pointer<'Contacts'>;
  /** תאריך יעד */
  Date?: DateValue;
  /** תיאור */
  Description?: string;
  /** חשובה */
  Important?: boolean;
  /** שם המשימה */
  Name?: string;
  /** אחראי */
  OwnerId?: Pointer<'_User'>;
  /** תזכורת */
  ReminderAt?: DateValue;
  /** מכירה */
  SaleId?: Pointer<'Sales'>;
  /** סטטוס */
  StatusId?: Pointer<'TaskStatuses'>;
  /** סוג משימה */
  TypeId?: Pointer<'TaskTypes'>;
  /** תגיות */
  array_tags_Pointer_Tags?: Pointer<'Tags'>[];
}
/** Creates a record of `Tasks`. */
export interface TasksCreate extends WriteFlags {
  /** Counts under a key alone. */
  objectId?: string;
  ACL?: Acl;
  /** לקוח */
  AccountId?: Pointer<'Accounts'> | null;
  /** פנייה */
  CaseId?: Pointer<'Cases'> | null;
  /** בוצעה בתאריך */
  CompletedAt?: DateValue | null;
  /** איש קשר */
  ContactId?: Pointer<'Contacts'> | null;
  /** תאריך יעד */
  Date?: DateValue | null;
  /** תיאור */
  Description?: string | null;
  /** חשובה */
  Important?: boolean | null;
  /** שם המשימה */
  Name?: string | null;
  /** אחראי */
  OwnerId?: Pointer<'_User'> | null;
  /** תזכורת */
  ReminderAt?: DateValue | null;
  /** מכירה */
  SaleId?: Pointer<'Sales'> | null;
  /** סטטוס */
  StatusId?: Pointer<'TaskStatuses'> | null;
  /** סוג משימה */
  TypeId?: Pointer<'TaskTypes'> | null;
  /** תגיות */
  array_tags_Pointer_Tags?: readonly Pointer<'Tags'>[] | null;
}
/** Changes a record of `Tasks`. */
export interface TasksUpdate extends WriteFlags {
  ACL?: Change<Acl>;
  /** לקוח */
  AccountId?: Change<Pointer<'Accounts'>>;
  /** פנייה */
  CaseId?: Change<Pointer<'Cases'>>;
  /** בוצעה בתאריך */
  CompletedAt?: Change<DateValue>;
  /** איש קשר */
  ContactId?: Change<Pointer<'Contacts'>>;
  /** תאריך יעד */
  Date?: Change<DateValue>;
  /** תיאור */
  Description?: Change<string>;
  /** חשובה */
  Important?: Change<boolean>;
  /** שם המשימה */
  Name?: Change<string>;
  /** אחראי */
  OwnerId?: Change<Pointer<'_User'>>;
  /** תזכורת */
  ReminderAt?: Change<DateValue>;
  /** מכירה */
  SaleId?: Change<Pointer<'Sales'>>;
  /** סטטוס */
  StatusId?: Change<Pointer<'TaskStatuses'>>;
  /** סוג משימה */
  TypeId?: Change<Pointer<'TaskTypes'>>;
  /** תגיות */
  array_tags_Pointer_Tags?: ArrayChange<Pointer<'Tags'>>;
  [place: `array_tags_Pointer_Tags.${string}`]: PlaceChange;
}
export interface TasksConditions extends SystemConditions {
  /** לקוח */
  AccountId?: PointerCondition<'Accounts'>;
  /** פנייה */
  CaseId?: PointerCondition<'Cases'>;
  /** בוצעה בתאריך */
  CompletedAt?: DateCondition;
  /** איש קשר */
  ContactId?: PointerCondition<'Contacts'>;
  /** תאריך יעד */
  Date?: DateCondition;
  /** תיאור */
  Description?: TextCondition;
  /** חשובה */
  Important?: BooleanCondition;
  /** שם המשימה */
  Name?: TextCondition;
  /** אחראי */
  OwnerId?: PointerCondition<'_User'>;
  /** תזכורת */
  ReminderAt?: DateCondition;
  /** מכירה */
  SaleId?: PointerCondition<'Sales'>;
  /** סטטוס */
  StatusId?: PointerCondition<'TaskStatuses'>;
  /** סוג משימה */
  TypeId?: PointerCondition<'TaskTypes'>;
  /** תגיות */
  array_tags_Pointer_Tags?: ArrayCondition<Pointer<'Tags'>>;
}
/** Which records of `Tasks` to find. */
export interface TasksWhere
  extends TasksConditions,
    Logical<TasksWhere>,
    Through<'AccountId', AccountsConditions> {
  [place: `array_tags_Pointer_Tags.${string}`]: PlaceCondition;
  [path: `AccountId.${string}.${string}`]: unknown;
  [path: `CaseId.${string}.${string}`]: unknown;
  [path: `ContactId.${string}.${string}`]: unknown;
  [path: `OwnerId.${string}.${string}`]: unknown;
  [path: `SaleId.${string}.${string}`]: unknown;
  [path: `StatusId.${string}.${string}`]: unknown;
  [path: `TypeId.${string}.${string}`]: unknown;
  [path: `createdBy.${string}.${string}`]: unknown;
  [path: `updatedBy.${string}.${string}`]: unknown;
}

/** The tables of the system, by name. */
export interface Schema {
  Accounts: { record: AccountsRecord; create: AccountsCreate; update: AccountsUpdate; where: AccountsWhere };
  Tasks: { record: TasksRecord; create: TasksCreate; update: TasksUpdate; where: TasksWhere };
}

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export type JsonObject = { [key: string]: JsonValue };

/** A reference to a record. */
export type Pointer<Table extends string = string> = { __type: 'Pointer'; className: Table; objectId: string };
/** A set of records, which are found by `$relatedTo`. */
export type Relation<Table extends string = string> = { __type: 'Relation'; className: Table };
/** An instant: ISO 8601. */
export type DateValue = { __type: 'Date'; iso: string };
/** A stored file; `url` serves it. */
export type FileValue = { __type: 'File'; name: string; url: string; public?: true; private?: true };
/** Attaches an uploaded file by its stored name. */
export type FileInput = { __type: 'File'; name: string; url?: string; public?: true; private?: true };
/** Rights by user id, `role:NAME` or `*`. Empty: the record is not restricted. */
export type Acl = { [entity: string]: { read?: boolean; write?: boolean } };

/** Clears a field. */
export type Delete = { __op: 'Delete' };
/** Adds to a number. */
export type Increment = { __op: 'Increment'; amount: number };
/** Appends to an array. */
export type Add<Item> = { __op: 'Add'; objects: readonly Item[] };
/** Appends what an array lacks. */
export type AddUnique<Item> = { __op: 'AddUnique'; objects: readonly Item[] };
/** Takes elements out of an array. */
export type Remove<Item> = { __op: 'Remove'; objects: readonly Item[] };
/** Sets a value in a create, and nothing in an update. */
export type SetOnInsert<Value> = { __op: 'SetOnInsert'; amount: Value };
/** Adds members to a Relation. */
export type AddRelation<Table extends string> = { __op: 'AddRelation'; objects: readonly Pointer<Table>[] };
/** Takes members out of a Relation. */
export type RemoveRelation<Table extends string> = { __op: 'RemoveRelation'; objects: readonly Pointer<Table>[] };
/** Several changes of a Relation, in their order. */
export type RelationBatch<Table extends string> = {
  __op: 'Batch';
  ops: readonly (AddRelation<Table> | RemoveRelation<Table>)[];
};

/** What an update does to a field: a value, `null` or an operator. */
export type Change<Value> = Value | null | Delete | SetOnInsert<Value>;
export type NumberChange = Change<number> | Increment;
export type ArrayChange<Item> = Change<readonly Item[]> | Add<Item> | AddUnique<Item> | Remove<Item>;
export type RelationChange<Table extends string> =
  | null
  | Delete
  | Relation<Table>
  | AddRelation<Table>
  | RemoveRelation<Table>
  | RelationBatch<Table>;
/** A change of a place inside an Object or Array. */
export type PlaceChange = JsonValue | Delete | Increment | ArrayChange<JsonValue> | SetOnInsert<JsonValue>;

/** Keys beside the fields of a write. They count under a key alone. */
export type WriteFlags = {
  dontRunPlatformTriggers?: boolean;
  dontUpdatePlatformTimeline?: boolean;
  dontRunPlatformTriggersCreate?: boolean;
  dontRunPlatformTriggersUpdate?: boolean;
};

/** A search in the text index of a table. */
export type TextSearch = {
  $search: { $term: string; $language?: string; $caseSensitive?: boolean; $diacriticSensitive?: boolean };
};
/** A query in a condition. */
export type SubQuery = {
  [Table in keyof Schema]: { className: Table; where?: Schema[Table]['where']; limit?: number; skip?: number };
}[keyof Schema];
/** Values of a field of other records. */
export type SelectQuery = { query: SubQuery; key: string };
export type RelatedTo = { object: Pointer; key: string };
/** A time before or after now: `3 days 2 hours ago`, `in 1 week`. */
export type RelativeTime = { $relativeTime: string };

/** The operators that every type of field has. */
export type Equality<Value> = {
  $eq?: Value | null;
  $ne?: Value | null;
  $in?: readonly (Value | null)[];
  $nin?: readonly (Value | null)[];
  containedIn?: readonly (Value | null)[];
  notContainedIn?: readonly (Value | null)[];
  $exists?: boolean;
  $select?: SelectQuery;
  $dontSelect?: SelectQuery;
};
export type Comparison<Value> = Equality<Value> & { $lt?: Value; $lte?: Value; $gt?: Value; $gte?: Value };
export type Pattern = { $regex?: string; $options?: string };
type Not<Operators> = Operators & { $not?: Operators };

/** Conditions by type of field: a value, `null` for absent values, or operators that all have to hold. */
export type TextCondition = string | null | Not<Comparison<string> & Pattern & { $text?: TextSearch }>;
export type NumberCondition = number | null | Not<Comparison<number>>;
export type BooleanCondition = boolean | null | Not<Comparison<boolean>>;
export type DateCondition = DateValue | null | Not<Comparison<DateValue | RelativeTime>>;
export type PointerCondition<Table extends string> =
  | Pointer<Table>
  | null
  | Not<Equality<Pointer<Table>> & InQuery<Table>>;
export type RelationCondition<Table extends string> =
  | Pointer<Table>
  | Not<Pick<Equality<Pointer<Table>>, '$eq' | '$ne' | '$in' | '$nin'> & { $all?: readonly Pointer<Table>[] } & InQuery<Table>>;
export type FileCondition = FileInput | null | Not<Equality<FileInput>>;
export type ArrayCondition<Item> =
  | Item
  | readonly Item[]
  | null
  | Not<
      Comparison<Item | readonly Item[]> &
        Pattern & {
          $all?: readonly (Item | Pattern)[];
          $containedBy?: readonly Item[];
          $inQuery?: SubQuery;
          $notInQuery?: SubQuery;
        }
    >;
export type ObjectCondition = JsonObject | null | Not<Equality<JsonObject>>;
/** A condition on a place inside an Object. */
export type PlaceCondition = JsonValue | ArrayCondition<JsonValue>;
/** `objectId` also takes queries for the Pointers (`key`) that lead to the record. */
export type IdCondition =
  | string
  | Not<Comparison<string> & Pattern & { $inQuery?: KeyQuery; $notInQuery?: KeyQuery }>;
export type KeyQuery = SubQuery & { key: string };
export type InQuery<Table extends string> = Table extends keyof Schema
  ? { $inQuery?: TableQuery<Table>; $notInQuery?: TableQuery<Table> }
  : { $inQuery?: SubQuery; $notInQuery?: SubQuery };
export type TableQuery<Table extends keyof Schema> = Extract<SubQuery, { className: Table }>;

/** Conditions on fields of the record that a Pointer leads to: `AccountId.City`. */
export type Through<Name extends string, Conditions> = {
  [Key in keyof Conditions & string as `${Name}.${Key}`]?: Conditions[Key];
};
/** Operators that join conditions. */
export type Logical<Where> = {
  $or?: readonly Where[];
  $and?: readonly Where[];
  $nor?: readonly Where[];
  $not?: Where;
  $text?: TextSearch;
  $relatedTo?: RelatedTo;
};

/** The fields that the service sets in every record. */
export type SystemFields = {
  objectId: string;
  /** ISO 8601. */
  createdAt: string;
  /** ISO 8601. */
  updatedAt: string;
  ACL: Acl;
  createdBy: Pointer<'_User'>;
  updatedBy: Pointer<'_User'>;
};
export type SystemConditions = {
  objectId?: IdCondition;
  createdAt?: DateCondition;
  updatedAt?: DateCondition;
  createdBy?: PointerCondition<'_User'>;
  updatedBy?: PointerCondition<'_User'>;
};
