use std::time::Instant;
use watchcache::json::*;
fn main() {
    let pod = std::fs::read("tests/data/pod.json").unwrap();
    let text = String::from_utf8(pod.clone()).unwrap();
    let mut fields = FieldSet::new(vec![Path::parse("metadata.managedFields").unwrap()]);
    for p in ["spec.nodeName", "status.phase", "status.startTime", "status.conditions[?(@.type=='Ready')].status"] {
        fields.slot(&Path::parse(p).unwrap());
    }
    let held = scan_object(&pod, &fields).unwrap();
    let version = held.version.clone().unwrap();
    let mut new = text.replacen(&format!("\"resourceVersion\":\"{version}\""), "\"resourceVersion\":\"9999999\"", 1);
    // times in the status
    let at = new.find("\"conditions\"").unwrap();
    let (front, back) = new.split_at(at);
    let back = back.replacen(":01Z", ":59Z", 3).replacen(":00Z", ":58Z", 3);
    new = format!("{front}{back}");
    let new = new.into_bytes();
    let found = compare_object(&held.bytes, &new, &fields).unwrap();
    println!("{} bytes, kept {}, {} edits", new.len(), held.bytes.len(), found.edits.len());
    let time = |name: &str, f: &mut dyn FnMut()| {
        let mut best = f64::MAX;
        for _ in 0..20 {
            let began = Instant::now();
            for _ in 0..2000 { f(); }
            best = best.min(began.elapsed().as_secs_f64() / 2000.0 * 1e6);
        }
        println!("{name}: {best:.2} us");
    };
    time("scan", &mut || { std::hint::black_box(scan_object(&new, &fields).unwrap()); });
    time("compare", &mut || { std::hint::black_box(compare_object(&held.bytes, &new, &fields).unwrap()); });
    time("read_fields", &mut || { std::hint::black_box(read_fields(&held.bytes, fields.paths())); });
}
