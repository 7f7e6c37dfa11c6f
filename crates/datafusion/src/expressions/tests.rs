use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::logical_expr::{Operator, col, lit};
use datafusion::physical_expr::expressions::{
    DynamicFilterPhysicalExpr, binary, col as column, in_list, lit as value,
};

use super::*;

fn schema() -> Schema {
    Schema::new(vec![
        Field::new("name", DataType::Utf8, true),
        Field::new("price", DataType::Decimal128(15, 2), true),
    ])
}

fn compare(field: &str, literal: ScalarValue) -> Arc<dyn PhysicalExpr> {
    let schema = schema();
    binary(column(field, &schema).expect("a column"), Operator::Eq, value(literal), &schema)
        .expect("an expression")
}

#[test]
fn literals_are_quoted_and_numbers_are_plain() {
    let text = |literal| physical(&compare("name", literal));
    assert_eq!(text(ScalarValue::from("O'Hara % ")), "name = 'O''Hara % '");
    assert_eq!(text(ScalarValue::Utf8(None)), "name = NULL");
    assert_eq!(text(ScalarValue::Date32(Some(9131))), "name = '1995-01-01'");
    assert_eq!(physical(&compare("price", ScalarValue::Decimal128(Some(500), 15, 2))), "price = 5.00");
}

#[test]
fn the_members_of_a_list_are_quoted() {
    let schema = schema();
    let members = ["EU", "US"].into_iter().map(value).collect();
    let list = in_list(column("name", &schema).expect("a column"), members, &false, &schema).expect("a list");
    assert_eq!(physical(&list), "name IN ('EU', 'US')");
}

#[test]
fn dynamic_filters_are_counted_and_not_held() {
    let schema = schema();
    let name = column("name", &schema).expect("a column");
    let dynamic: Arc<dyn PhysicalExpr> = Arc::new(DynamicFilterPhysicalExpr::new(vec![name], value(true)));
    let both = binary(compare("name", ScalarValue::from("a")), Operator::And, Arc::clone(&dynamic), &schema);
    let predicate = Predicate::of(&both.expect("an expression"));
    let mut properties = Properties::default();
    predicate.render(&mut properties);
    let rendered = properties.into_object().expect("properties");
    assert_eq!(rendered.as_json(), r#"{"dynamic_filters":1,"predicate":"name = 'a'"}"#);
    drop(predicate);
    let others = Arc::strong_count(&dynamic);
    let shown = Shown::of(&dynamic);
    assert_eq!((Arc::strong_count(&dynamic), shown.text()), (others, "a dynamic filter".to_owned()));
}

#[test]
fn logical_literals_are_written_as_sql_writes_them() {
    assert_eq!(logical(&col("name").eq(lit("O'Hara"))), "(name = 'O''Hara')");
}

#[test]
fn what_can_not_be_written_as_sql_has_its_literals_in_quotes_as_well() {
    let place = lit(ScalarValue::from(vec![("town", ScalarValue::from("Cork"))]));
    let expression = col("name").eq(lit("O'Hara")).and(col("n").gt(lit(5))).and(col("place").eq(place));
    assert_eq!(sql::expression(&expression), None);
    assert_eq!(logical(&expression), "name = 'O''Hara' AND n > 5 AND place = '{town: Cork}'");
}
