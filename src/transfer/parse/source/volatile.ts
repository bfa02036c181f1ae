/** Internal classes of Parse Server outside its schema (`SchemaController.js`, volatileClasses). They have no counterpart here. */
export const volatileClasses: readonly string[] = [
  '_Audience',
  '_GlobalConfig',
  '_GraphQLConfig',
  '_Hooks',
  '_Idempotency',
  '_JobSchedule',
  '_JobStatus',
  '_PushStatus',
];
